// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/docs"
)

// forUsers are the pages that users and administrators read; they are there in both languages.
var forUsers = []string{
	"README.md", "deploy/README.md", "deploy/examples/README.md", "deploy/examples/FINETUNE.md", "deploy/MIGRATION.md", "cmd/kubectl-paddle/TROUBLESHOOTING.md",
	"plugins/paddle/TOPOLOGY.md", "plugins/paddle/QUEUES.md", "plugins/paddle/TUNING.md", "controller/ELASTIC.md", "plugins/placement/HOW.md",
	"test/DEVELOP.md", "deploy/SECURITY.md", "deploy/dashboards/README.md", "deploy/TRAINER.md", "deploy/ENABLE.md",
}

func TestBothLanguagesSayTheSame(t *testing.T) {
	all, err := docs.Load(os.DirFS(root))
	require.NoError(t, err)
	pages := map[string]*docs.Page{}
	for _, page := range all {
		pages[page.Path] = page
	}
	for _, path := range forUsers {
		require.Contains(t, pages, docs.Twin(path), "%s is for users, and has no translation", path)
	}
	for _, page := range all {
		if !strings.HasSuffix(page.Path, ".zh.md") {
			continue
		}
		require.Contains(t, forUsers, docs.Twin(page.Path), "%s translates a page that is not for users", page.Path)
		parted := docs.Differences(pages[docs.Twin(page.Path)], page)
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

// What is said to be tested elsewhere is tested there.
func TestTheTestsOfOthersAreThere(t *testing.T) {
	for _, page := range english(t) {
		for _, block := range page.Blocks {
			where, found := strings.CutPrefix(block.Marker, "tested by: ")
			if !found {
				continue
			}
			folder, test, _ := strings.Cut(where, " ")
			out, err := exec.Command("grep", "-rlE", "^func "+test+`\(`, "--include=*_test.go", filepath.Join(root, folder)).Output() //nolint:gosec // the documents' own words
			require.NoError(t, err, "%s:%d: there is no %s in %s", page.Path, block.Line, test, folder)
			require.NotEmpty(t, out)
		}
	}
}

// The commands in the heads of the manifests are those of the documents.
func TestManifestsNameTheCommandsOfTheDocuments(t *testing.T) {
	var documents strings.Builder
	for _, page := range []string{"deploy/README.md", "deploy/MIGRATION.md"} {
		text, err := os.ReadFile(filepath.Join(root, page))
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

// Every reason that a user may read, of the controller's conditions and events and of the plugin's, is explained.
func TestEveryReasonIsExplained(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "cmd/kubectl-paddle/TROUBLESHOOTING.md"))
	require.NoError(t, err)
	// What says that all is well, or is only a word between the controller and itself.
	fine := map[string]bool{"EnvironmentReady": true, "Created": true, "Placed": true, "Retrying": true}
	found := 0
	for file, pattern := range map[string]string{
		"controller/builder/warnings.go":               `Reason\w+ += "(\w+)"`,
		"controller/paddlejob/lifecycle/reasons.go":    `Reason\w+ += "(\w+)"`,
		"controller/paddlejob/lifecycle/network.go":    `Reason\w+ += "(\w+)"`,
		"controller/paddlejob/admission.go":            `Reason\w+ += "(\w+)"`,
		"controller/paddlejob/observed/startup.go":     `Reason\w+ += "(\w+)"`,
		"controller/paddlejob/lifecycle/conditions.go": `Reason\w+ += "(\w+)"`,
		"plugins/paddle/report/reason.go":              `\w+ +Reason = "(\w+)"`,
	} {
		source, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		for _, match := range regexp.MustCompile(pattern).FindAllSubmatch(source, -1) {
			found++
			if reason := string(match[1]); !fine[reason] {
				require.Contains(t, string(text), "`"+reason+"`", file)
			}
		}
	}
	require.Greater(t, found, 70)
}
