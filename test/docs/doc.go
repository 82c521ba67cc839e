// SPDX-License-Identifier: Apache-2.0

// Package docs reads the project's Markdown and runs its commands. The documents are in deploy/docs, and nothing is known here of their content.
//
// Its tests run every command of every page on a sandbox, compare the output with what the page shows, have the API server check
// every manifest, follow every link, and compare each page with its translation. A block that cannot run here has the reason above it:
//
//	<!-- not run: REASON -->
//	<!-- tested by: FOLDER TEST -->
//
// A block without these comments is run. <!-- file: NAME --> puts a block into a file that the page's later commands read. A sentence can
// name its test too; deploy/docs/reference/tested-by.md lists all tests that are named.
package docs
