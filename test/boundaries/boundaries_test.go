// SPDX-License-Identifier: Apache-2.0

package boundaries

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// positions are those of all files that load has parsed.
var positions = token.NewFileSet()

// load parses the Go files of a repository. Folders that begin with a dot or an underscore, and testdata, are left out.
func load(t *testing.T, root fs.FS) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	require.NoError(t, fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if entry.IsDir() && (strings.ContainsAny(entry.Name()[:1], "._") || entry.Name() == "testdata") {
			return fs.SkipDir
		}
		if entry.IsDir() || path.Ext(name) != ".go" {
			return nil
		}
		source, err := fs.ReadFile(root, name)
		if err == nil {
			files[name], err = parser.ParseFile(positions, name, source, parser.ParseComments)
		}
		return err
	}))
	return files
}

// Where each side declares the labels, annotations and finalizers that it reads or writes.
const (
	pluginKeys     = "plugins/paddle/job/keys.go"
	controllerKeys = "controller/api/batch/v1/labels.go"
	// reportKeys is the key that the plugin alone writes, and kubectl paddle reads.
	reportKeys = "plugins/paddle/report/keys.go"
	// ownKeys begins all keys that are this project's.
	ownKeys = "batch.paddlepaddle.org/"
)

// texts returns the string literals of a file; of constants with their names, without what one side adds to them: JobName and
// jobNameLabel are one.
func texts(file *ast.File) (constants map[string]string, all []string) {
	constants = map[string]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.ValueSpec:
			for i, value := range n.Values {
				if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING && n.Names[0].Obj.Kind == ast.Con {
					name := strings.ToLower(n.Names[i].Name)
					for _, kind := range []string{"label", "annotation", "finalizer"} {
						name = strings.TrimSuffix(name, kind)
					}
					constants[name], _ = strconv.Unquote(literal.Value)
				}
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				all = append(all, text)
			}
		}
		return true
	})
	return constants, all
}

// brokenIn returns the breaches of the layout and of the rules for keys.
func brokenIn(files map[string]*ast.File) (broken []string) {
	say := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	var folders []string
	for name, file := range files {
		top, below, _ := strings.Cut(name, "/")
		if !slices.Contains(folders, top) {
			folders = append(folders, top)
		}
		// kubectl paddle alone keeps its packages below its main: neither the scheduler nor the controller imports them.
		if top == "cmd" && file.Name.Name != "main" && (!strings.HasPrefix(below, "kubectl-paddle/") || strings.Count(below, "/") < 2) {
			say("%s is package %s: what is not main belongs to plugins/, controller/ or test/", name, file.Name.Name)
		}
		product := slices.Contains([]string{"cmd", "controller", "plugins"}, top) && !strings.HasSuffix(name, "_test.go") && !ast.IsGenerated(file)
		if !product || slices.Contains([]string{pluginKeys, controllerKeys, reportKeys}, name) {
			continue
		}
		_, all := texts(file)
		for _, text := range all {
			if strings.Contains(text, ownKeys) && text != ownKeys+"v1" { // the API's own group and version
				say("%s holds the key %q: declare it in its side's keys.go or labels.go", name, text)
			}
		}
	}
	slices.Sort(folders)
	if expected := []string{"cmd", "controller", "deploy", "hack", "plugins", "test"}; !slices.Equal(folders, expected) {
		say("the folders are %v, not %v", folders, expected)
	}
	if files[pluginKeys] == nil || files[controllerKeys] == nil {
		return append(broken, "keys.go or labels.go of a side is missing")
	}
	read, _ := texts(files[pluginKeys])
	written, _ := texts(files[controllerKeys])
	for name, value := range read {
		for other, its := range written {
			if (name == other) != (value == its) && (strings.HasPrefix(value, ownKeys) || name == other || value == its) {
				say("%s is %q in %s, and %s is %q in %s", name, value, pluginKeys, other, its, controllerKeys)
			}
		}
		if _, known := written[name]; !known && strings.HasPrefix(value, ownKeys) {
			say("%s is in %s alone: no program writes what the plugin would read", name, pluginKeys)
		}
	}
	if len(read) == 0 {
		say("%s declares no key", pluginKeys)
	}
	return broken
}

func TestTheRepositoryKeepsItsRules(t *testing.T) {
	files := load(t, os.DirFS("../.."))
	require.Greater(t, len(files), 100, "the repository was not found")
	broken := brokenIn(files)
	require.Empty(t, broken, strings.Join(broken, "\n"))
}

func TestEachRuleCanBeBroken(t *testing.T) {
	const keys = "package keys\n\nconst (\n\tMode = \"batch.paddlepaddle.org/mode\"\n\tRole = \"paddle-res-type\"\n)\n"
	for _, tc := range []struct{ file, text, want string }{
		{"controller/api/api_test.go", "package api\n\nconst mode = \"batch.paddlepaddle.org/mode\"\n", ""},
		{"cmd/kubectl-paddle/describe/why.go", "package describe\n", ""},
		{"pkg/x.go", "package pkg\n", "the folders are [cmd controller deploy hack pkg plugins test]"},
		{"cmd/tool/lib/lib.go", "package lib\n", "cmd/tool/lib/lib.go is package lib"},
		{"cmd/kubectl-paddle/x.go", "package paddle\n", "cmd/kubectl-paddle/x.go is package paddle"},
		{pluginKeys, "package paddle\n\nconst modeAnnotation = \"batch.paddlepaddle.org/modus\"\n", `mode is "batch.paddlepaddle.org/modus" in`},
		{pluginKeys, "package paddle\n\nconst Type = \"paddle-res-type\"\n", `type is "paddle-res-type" in plugins/paddle/job/keys.go, and role is`},
		{pluginKeys, "package paddle\n\nconst Plan = \"batch.paddlepaddle.org/plan\"\n", "no program writes what the plugin would read"},
		{pluginKeys, "package paddle\n\nvar x = 1\n", "declares no key"},
		{"controller/api/x.go", "package api\n\nvar mode = `set batch.paddlepaddle.org/mode`\n", "controller/api/x.go holds the key"},
	} {
		root := fstest.MapFS{"_output/x.go": &fstest.MapFile{Data: []byte("no Go at all")}}
		for name, text := range map[string]string{
			"cmd/tool/main.go": "package main\n", controllerKeys: keys, pluginKeys: keys, "deploy/x.go": "package x\n",
			"hack/x.go": "package x\n", "test/x.go": "package x\n", tc.file: tc.text,
		} {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		broken := strings.Join(brokenIn(load(t, root)), "\n")
		if tc.want == "" {
			require.Empty(t, broken)
			continue
		}
		require.Contains(t, broken, tc.want)
	}
}
