// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/docs"
)

// forUsers reports whether users and administrators read the page; these pages are there in both languages. Of the reference that is
// the command line and the scheduler's reasons, and the design is not translated.
func forUsers(page *docs.Page) bool {
	others := []string{"README.md", "deploy/examples/README.md", "deploy/docs/reference/kubectl-paddle.md", "deploy/docs/reference/reasons.md", "test/DEVELOP.md"}
	if rest, found := strings.CutPrefix(page.Path, "deploy/docs/"); found && !strings.HasPrefix(rest, "reference/") && !strings.HasPrefix(rest, "design/") {
		return true
	}
	return slices.Contains(others, page.Path)
}

func TestBothLanguagesSayTheSame(t *testing.T) {
	all, err := docs.Load(os.DirFS(root))
	require.NoError(t, err)
	pages := map[string]*docs.Page{}
	for _, page := range all {
		pages[page.Path] = page
	}
	for _, page := range all {
		translation := pages[docs.Translation(page.Path)]
		if docs.Chinese(page.Path) {
			require.NotNil(t, translation, "%s translates a page that does not exist", page.Path)
			continue
		}
		if translation == nil {
			require.False(t, forUsers(page), "%s is for users, and has no translation", page.Path)
			continue
		}
		parted := docs.Differences(page, translation)
		require.Empty(t, parted, strings.Join(parted, "\n"))
	}
}

func TestEachBlockIsRunOrSaysWhyNot(t *testing.T) {
	for _, page := range english(t) {
		for _, block := range page.Blocks {
			require.NoError(t, block.Fault(), page.Path)
		}
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	pages, err := docs.Load(os.DirFS(root))
	require.NoError(t, err)
	broken := docs.BrokenLinks(pages, func(path string) bool {
		_, err := os.Stat(filepath.Join(root, path))
		return err == nil
	})
	require.Empty(t, broken, strings.Join(broken, "\n"))
}

func TestMakeHasTheTargets(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	for _, page := range english(t) {
		for _, target := range page.Targets() {
			require.Regexp(t, `(?m)^`+regexp.QuoteMeta(target)+`:`, string(makefile), "%s says make %s", page.Path, target)
		}
	}
}

// The commands in the heads of the manifests are those of the documents.
func TestManifestsNameTheCommandsOfTheDocuments(t *testing.T) {
	var documents strings.Builder
	for _, page := range []string{"install.md", "enable-the-plugin.md", "migrate.md"} {
		text, err := os.ReadFile(filepath.Join(root, "deploy/docs/how-to", page))
		require.NoError(t, err)
		documents.Write(text)
	}
	entries, err := fs.ReadDir(deploy.Files, "v1")
	require.NoError(t, err)
	found := 0
	for _, entry := range entries {
		text, err := deploy.Files.ReadFile("v1/" + entry.Name())
		require.NoError(t, err)
		for _, command := range regexp.MustCompile(`(?m)^# +((?:kubectl|sed) .*)$`).FindAllStringSubmatch(string(text), -1) {
			require.Contains(t, documents.String(), command[1], entry.Name())
			found++
		}
	}
	require.GreaterOrEqual(t, found, 5)
}

func TestClicksAndStrays(t *testing.T) {
	pages := []*docs.Page{
		docs.Parse("a.md", "# A\n[中文](a.zh.md) [b](x/b.md#b) [out](https://example.org)\n"),
		docs.Parse("a.zh.md", "# A\n[English](a.md) [b](x/b.md)\n"),
		docs.Parse("x/b.md", "# B\n[self](#b) [back](../a.md)\n[c](c.md)\n"),
		docs.Parse("x/b.zh.md", "# B\n"),
		docs.Parse("x/c.md", "# C\n"),
		docs.Parse("x/unlinked.md", "# D\n"),
	}
	require.Equal(t, map[string]int{"a.md": 0, "a.zh.md": 1, "x/b.md": 1, "x/c.md": 2}, docs.Clicks(pages, "a.md"))
	require.Equal(t, []string{`a.zh.md, "A": x/b.md is there as x/b.zh.md too`}, docs.Strays(pages))
}

// Every page is at most two clicks away from the first one, in both languages.
func TestEveryPageIsNear(t *testing.T) {
	pages, err := docs.Load(os.DirFS(root))
	require.NoError(t, err)
	there := map[string]bool{}
	for _, page := range pages {
		there[page.Path] = true
	}
	strays := docs.Strays(pages)
	require.Empty(t, strays, strings.Join(strays, "\n"))
	for _, first := range []string{"README.md", "README.zh.md"} {
		clicks := docs.Clicks(pages, first)
		for _, page := range pages {
			// What has no translation, the Chinese pages link to in English.
			if docs.Chinese(page.Path) != docs.Chinese(first) && (!docs.Chinese(first) || there[docs.Translation(page.Path)]) {
				continue
			}
			require.Contains(t, clicks, page.Path, "no link leads there from %s", first)
			require.LessOrEqual(t, clicks[page.Path], 2, "%s from %s", page.Path, first)
		}
	}
}

// Readers find a page's end. What is made of other files may be as long as they need.
func TestPagesAreShort(t *testing.T) {
	generated := []string{"deploy/docs/reference/api.md", testedBy, "deploy/helm/paddle-volcano/README.md"}
	pages, err := docs.Load(os.DirFS(root))
	require.NoError(t, err)
	for _, page := range pages {
		if slices.Contains(generated, page.Path) {
			continue
		}
		limit := 300
		if page.Path == "README.md" || page.Path == "README.zh.md" {
			limit = 120
		}
		text, err := os.ReadFile(filepath.Join(root, page.Path))
		require.NoError(t, err)
		require.LessOrEqual(t, bytes.Count(text, []byte("\n")), limit, page.Path)
	}
}

// The pictures of both languages differ in their texts alone.
func TestPicturesShowTheSame(t *testing.T) {
	pictures, err := filepath.Glob(filepath.Join(root, "deploy/docs/images/*.svg"))
	require.NoError(t, err)
	require.NotEmpty(t, pictures)
	texts := regexp.MustCompile(`>[^<>]*</(text|title|tspan)>`)
	for _, picture := range pictures {
		english, err := os.ReadFile(picture)
		require.NoError(t, err)
		chinese, err := os.ReadFile(filepath.Join(root, "deploy/docs/zh/images", filepath.Base(picture)))
		require.NoError(t, err, "%s has no translation", picture)
		require.Equal(t, texts.ReplaceAllString(string(english), ""), texts.ReplaceAllString(string(chinese), ""), picture)
	}
}

// all returns the texts that a pattern finds in Go files, such as the names of reasons.
func all(t *testing.T, pattern string, files ...string) (found []string) {
	t.Helper()
	for _, file := range files {
		source, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		matches := regexp.MustCompile(pattern).FindAllSubmatch(source, -1)
		require.NotEmpty(t, matches, file)
		for _, match := range matches {
			found = append(found, string(match[1]))
		}
	}
	return found
}

// requireRows fails unless the page has each of the names as code.
func requireRows(t *testing.T, page string, names []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "deploy/docs", page))
	require.NoError(t, err)
	for _, name := range names {
		require.Contains(t, string(text), "`"+name+"`", page)
	}
}

const pluginReason = `\w+ +Reason = "(\w+)"`

// Every reason that a user may read, of the controller's conditions and events and of the plugin's, is explained.
func TestEveryReasonIsExplained(t *testing.T) {
	reasons := slices.Concat(all(t, pluginReason, "plugins/paddle/report/reason.go"), all(t, `Reason\w+ += "(\w+)"`,
		"controller/builder/warnings.go", "controller/paddlejob/lifecycle/reasons.go",
		"controller/paddlejob/admission.go", "controller/paddlejob/observed/startup.go"))
	require.Greater(t, len(reasons), 70)
	// What says that all is well, or is only a word between the controller and itself.
	fine := []string{"Created", "Placed", "Retrying"}
	requireRows(t, "troubleshooting.md", slices.DeleteFunc(reasons, func(reason string) bool { return slices.Contains(fine, reason) }))
}

// The reference has every reason, argument and metric of the plugin, and every metric of the controller.
func TestReferenceIsComplete(t *testing.T) {
	ofEvents := []string{"InvalidAnnotation"}
	reasons := all(t, pluginReason, "plugins/paddle/report/reason.go")
	requireRows(t, "reference/reasons.md", slices.DeleteFunc(reasons, func(reason string) bool { return slices.Contains(ofEvents, reason) }))
	requireRows(t, "reference/plugin-arguments.md", all(t, `(?m)^\t"([a-z-]+)": +func\(a \*Arguments`, "plugins/paddle/config/decode.go"))
	metrics := all(t, `(?:newCounters\(|Name: +)"(\w+)"`, "plugins/paddle/metrics/metrics.go")
	for i := range metrics {
		metrics[i] = "volcano_paddle_" + metrics[i]
	}
	requireRows(t, "reference/metrics.md", metrics)
	metrics = slices.Concat(all(t, `NewDesc\("paddlejob_controller_(\w+)"`, "controller/paddlejob/metrics.go"), all(t, `Name: +"(\w+)"`, "controller/paddlejob/metrics.go"))
	for i := range metrics {
		metrics[i] = "paddlejob_controller_" + metrics[i]
	}
	requireRows(t, "reference/metrics.md", metrics)
}
