// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/docs"
)

func TestClicksAndStrays(t *testing.T) {
	pages := []*docs.Page{
		docs.Parse("a.md", "# A\n[中文](a.zh.md) [b](x/b.md#b) [out](https://example.org)\n"),
		docs.Parse("a.zh.md", "# A\n[English](a.md) [b](x/b.md)\n"),
		docs.Parse("x/b.md", "# B\n[self](#b) [back](../a.md)\n[c](c.md)\n"),
		docs.Parse("x/b.zh.md", "# B\n"),
		docs.Parse("x/c.md", "# C\n"),
		docs.Parse("x/lonely.md", "# D\n"),
	}
	require.Equal(t, map[string]int{"a.md": 0, "a.zh.md": 1, "x/b.md": 1, "x/c.md": 2}, docs.Clicks(pages, "a.md"))
	require.Equal(t, []string{`a.zh.md, "A": x/b.md is there as x/b.zh.md too`}, docs.Strays(pages))
}

// Whoever reads the first page finds every page for users within two clicks, and stays in their language.
func TestEveryPageForUsersIsNear(t *testing.T) {
	pages, err := docs.Load(os.DirFS(root))
	require.NoError(t, err)
	strays := docs.Strays(pages)
	require.Empty(t, strays, strings.Join(strays, "\n"))
	for _, first := range []string{"README.md", "README.zh.md"} {
		clicks := docs.Clicks(pages, first)
		for _, page := range forUsers {
			if strings.HasSuffix(first, ".zh.md") {
				page = docs.Twin(page)
			}
			require.Contains(t, clicks, page, "no link leads there from %s", first)
			require.LessOrEqual(t, clicks[page], 2, "%s from %s", page, first)
		}
	}
}
