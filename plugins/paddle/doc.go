// SPDX-License-Identifier: Apache-2.0

// Package paddle is a plugin of Volcano's scheduler that holds the gang of PaddlePaddle jobs by role; decisions that need
// no session are pure functions here, planning lives in plugins/placement, and controller may not be imported.
package paddle
