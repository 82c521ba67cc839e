// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/docs"
)

const sample = "# A page\n\nIt has 2 [links](b.md#part-one) and ![one](c.svg). `not [a](link)`\n\n" +
	"| a | `x|y` |\n|---|---|\n| 1 | 2 |\n\n## Part *one*\n\n" +
	"<!-- not run: needs Docker -->\n```sh\ndocker build .\n```\n\n" +
	"```console\n$ kubectl get pods   # all\nNAME   AGE\na      5s\n$ make test\n$ kubectl delete \\\n    pod a\n```\n"

func TestParse(t *testing.T) {
	page := docs.Parse("a.md", sample)
	require.Len(t, page.Sections, 3)
	first := page.Sections[1]
	require.Equal(t, 1, first.Level)
	require.Equal(t, []string{"b.md#part-one", "c.svg"}, first.Links)
	require.Equal(t, [][2]int{{3, 2}}, first.Tables)
	require.Len(t, page.Blocks, 2)
	require.True(t, page.Blocks[0].Excused())
	require.False(t, page.Blocks[0].Run())
	require.Equal(t, []docs.Step{
		{Line: 17, Command: "kubectl get pods   # all", Want: []string{"NAME   AGE", "a      5s"}},
		{Line: 21, Command: "kubectl delete \\\n    pod a"},
	}, page.Blocks[1].Steps(), "what make does is left out")
	require.Equal(t, []string{"test"}, page.Targets())
}

func TestFaultsOfBlocks(t *testing.T) {
	fault := func(marker, language, line string) error {
		return (&docs.Block{Marker: marker, Language: language, Lines: []string{line}}).Fault()
	}
	require.NoError(t, fault("", "", "pods: 3"))
	require.ErrorContains(t, fault("", "", "  kubectl get pods"), "is a command")
	require.ErrorContains(t, fault("", "bash", "ls"), `language "bash" is unknown`)
	require.ErrorContains(t, fault("not run:", "sh", "ls"), "is to say more")
}

func TestSame(t *testing.T) {
	lines := func(text string) []string { return strings.Split(text, "|") }
	same := [][2]string{
		{"NAME  AGE|a 5s", "NAME   AGE\na      2m30s\n"},
		{"a|...|z", "a\nb\nc\nz"},
		{"...|z", "z"},
		{"ready after 7.8 s", "ready after 17 s"},
		{"at 10.0.0.7", "at 10.128.0.12"},
		{"a|...", "a"},
	}
	for _, pair := range same {
		require.True(t, docs.Same(lines(pair[0]), pair[1]), pair)
	}
	for _, pair := range [][2]string{{"a", "b"}, {"a", "a\nb"}, {"a|b", "a"}, {"2/2", "1/2"}, {"a|...|z", "a\nb"}} {
		require.False(t, docs.Same(lines(pair[0]), pair[1]), pair)
	}
}

func TestDifferencesOfLanguages(t *testing.T) {
	page := docs.Parse("a.md", sample)
	equal := strings.NewReplacer("# A page", "# 一页", "It has", "有", "b.md#part-one", "b.zh.md#x", "# all", "# 全部").Replace(sample)
	require.Empty(t, docs.Differences(page, docs.Parse("a.zh.md", equal)))
	for old, wrong := range map[string]string{
		"有 2": "有 3", "c.svg": "d.svg", "| 1 | 2 |": "| 1 | 2 | 3 |", "## Part": "### Part", "get pods ": "get pod ", "not run: needs Docker": "file: x",
	} {
		require.NotEmpty(t, docs.Differences(page, docs.Parse("a.zh.md", strings.Replace(equal, old, wrong, 1))), wrong)
	}
}

func TestBrokenLinks(t *testing.T) {
	exists := func(path string) bool { return path != "gone.md" }
	a := docs.Parse("x/a.md", "# A\n[1](../b.md#part-one) [2](../b.md#part-two) [3](../gone.md) [4](https://example.org) [5](#a)\n")
	b := docs.Parse("b.md", "# B\n## Part *one*\n")
	require.Equal(t, []string{`x/a.md, "A": b.md has no heading #part-two`, `x/a.md, "A": there is no gone.md`}, docs.BrokenLinks([]*docs.Page{a, b}, exists))
}

func TestManifestOf(t *testing.T) {
	of := func(text string) (string, docs.Judge) {
		whole, by, err := (&docs.Block{Lines: strings.Split(text, "\n")}).Manifest()
		require.NoError(t, err)
		return whole, by
	}
	whole, by := of("worker:\n  replicas: 3")
	require.Equal(t, docs.ByController, by)
	require.Contains(t, whole, "replicas: 3")
	require.Contains(t, whole, "image: paddle")
	_, by = of("apiVersion: v1\nkind: Pod")
	require.Equal(t, docs.ByAPIServer, by)
	whole, by = of("data:\n  volcano-scheduler.conf: |\n    actions: allocate")
	require.Equal(t, docs.ByScheduler, by)
	require.Equal(t, "actions: allocate\n", whole)
	_, _, err := (&docs.Block{Lines: []string{"what: ever"}}).Manifest()
	require.ErrorContains(t, err, "the fields are of no known object")
}
