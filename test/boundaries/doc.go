// SPDX-License-Identifier: Apache-2.0

// Package boundaries tests what no linter checks: the layout of folders, the keys that both sides declare, the words of names, and
// the tables of fields in deploy/docs/reference/fields.md.
package boundaries
