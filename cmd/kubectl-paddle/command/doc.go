// SPDX-License-Identifier: Apache-2.0

// Package command holds the commands of kubectl paddle: flags, what is asked of the API server, and what is printed. Sentences are story's.
package command
