// SPDX-License-Identifier: Apache-2.0

// Package launch does what `python -m paddle.distributed.launch` does on one node: it meets the launchers of the other
// nodes, and starts the node's processes with what they need to know.
package launch
