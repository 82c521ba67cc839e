// SPDX-License-Identifier: Apache-2.0

// Package speed measures how long Volcano's allocate takes, with the plugin and without, and what the plugin costs jobs
// that are not Paddle's. Whether that is fast enough is judged in package session.
package speed
