// SPDX-License-Identifier: Apache-2.0

package boundaries

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// File is what the rules need to know of one Go file.
type File struct {
	// Path is relative to the root, with slashes; Dir is its folder.
	Path, Dir string
	// Package is the name in the package clause, Doc the comment above it.
	Package, Doc string
	// FirstLine is the file's first line.
	FirstLine string
	// Test and Generated say what kind of file it is.
	Test, Generated bool
	// Strings are the values of all string literals but those of imports.
	Strings []string
	syntax  *ast.File
}

// Tree is a repository: the folders at its top and its Go files, both in the order of their names.
type Tree struct {
	Folders []string
	Files   []*File
}

// Load reads a repository. Folders that begin with a dot or an underscore, and testdata, are left out.
func Load(root fs.FS) (*Tree, error) {
	tree := &Tree{}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if entry.IsDir() {
			if strings.ContainsAny(entry.Name()[:1], "._") || entry.Name() == "testdata" {
				return fs.SkipDir
			}
			if !strings.Contains(name, "/") {
				tree.Folders = append(tree.Folders, name)
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		file, err := read(root, name)
		if err != nil {
			return err
		}
		tree.Files = append(tree.Files, file)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the repository: %w", err)
	}
	return tree, nil
}

func read(root fs.FS, name string) (*File, error) {
	source, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	syntax, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", name, err)
	}
	first, _, _ := strings.Cut(string(source), "\n")
	file := &File{
		Path: name, Dir: path.Dir(name), Package: syntax.Name.Name, Doc: syntax.Doc.Text(),
		FirstLine: first,
		Test:      strings.HasSuffix(name, "_test.go"), Generated: ast.IsGenerated(syntax), syntax: syntax,
	}
	imports := map[*ast.BasicLit]bool{}
	for _, spec := range syntax.Imports {
		imports[spec.Path] = true
	}
	ast.Inspect(syntax, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING && !imports[literal] {
			file.Strings = append(file.Strings, unquote(literal))
		}
		return true
	})
	return file, nil
}

func unquote(literal *ast.BasicLit) string {
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return literal.Value
	}
	return value
}

// under says whether a path is the folder or lies in it.
func under(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }
