// SPDX-License-Identifier: Apache-2.0

// Package docs reads the project's Markdown and runs what stands in it; no document lives here, and nothing is known here of what one says.
//
// Its tests run every command of every page on a sandbox, compare what is printed with what the page shows, have the API
// server judge every manifest, follow every link, and hold each page to its translation. What cannot run here says so
// above its block:
//
//	<!-- not run: REASON -->
//	<!-- tested by: FOLDER TEST -->
//
// A block that says neither is run. <!-- file: NAME --> puts a block into a file that the page's later commands read.
package docs
