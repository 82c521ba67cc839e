// SPDX-License-Identifier: Apache-2.0

// Package inside is process 1 of a box: it sets the box up, starts programs on request, reaps them, and ends everything when the
// socket for requests is closed.
package inside
