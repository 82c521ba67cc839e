// SPDX-License-Identifier: Apache-2.0

// Package workers is the loop that each controller runs: keys wait in a queue until a worker has time for them, and what
// failed is tried again later. What is done for a key is its controller's, and nothing here knows of it.
package workers
