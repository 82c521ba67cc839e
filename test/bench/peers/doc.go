// SPDX-License-Identifier: Apache-2.0

// Package peers is `make bench-peers`: schedulers of other projects, Volcano's and the plugin, each on a new control plane, place the same
// gangs on the same nodes. README.md has the rules, and files has what is submitted and how the schedulers are configured.
package peers
