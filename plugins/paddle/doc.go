// SPDX-License-Identifier: Apache-2.0

// Package paddle is a plugin of Volcano's scheduler that holds the gang of PaddlePaddle jobs by role; decisions that need
// no session are pure functions here, planning lives in plugins/placement, and controller may not be imported.
//
//   - plugin.go wires everything else into a session, and decides nothing
//   - keys.go, roles.go: which jobs are Paddle's, and what each pod does in them
//   - gang.go, standin.go, order.go: the minimum of each role, pods without requests, who is placed first
//   - explain.go: why a gang is not started, in words for users
//   - arguments.go: what volcano-scheduler.conf may say
package paddle
