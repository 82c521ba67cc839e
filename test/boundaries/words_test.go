// SPDX-License-Identifier: Apache-2.0

package boundaries

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/cases"
)

// wordsFile has the words that the names of each folder do not have, and what is written instead. termsFile has those of no folder.
const wordsFile, termsFile = "testdata/words.yaml", "../../hack/vale/styles/PaddleVolcano/Terms.yml"

var (
	lowerUpper  = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	acronymNext = regexp.MustCompile(`([A-Z]+)([A-Z][a-z])`)
	camelCase   = regexp.MustCompile(`^[A-Z][A-Za-z]+$`)
)

// wordsOf returns the words of a name, each between blanks: " stand in " of standIn, StandIn and stand_in.
func wordsOf(name string) string {
	name = lowerUpper.ReplaceAllString(acronymNext.ReplaceAllString(name, "$1 $2"), "$1 $2")
	return " " + strings.ToLower(strings.NewReplacer("_", " ", "-", " ").Replace(name)) + " "
}

// declared calls found with each name that a file declares, and with the text of each constant that looks like a reason. exact
// reports whether it is the name of a type or a function.
func declared(file *ast.File, found func(name string, at token.Pos, exact bool)) {
	ident := func(e ast.Expr) {
		if name, ok := e.(*ast.Ident); ok {
			found(name.Name, name.Pos(), false)
		}
	}
	found(file.Name.Name, file.Name.Pos(), false)
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.ImportSpec:
			if n.Name != nil {
				ident(n.Name)
			}
		case *ast.FuncDecl:
			found(n.Name.Name, n.Name.Pos(), true)
		case *ast.TypeSpec:
			found(n.Name.Name, n.Name.Pos(), true)
		case *ast.GenDecl:
			for _, spec := range n.Specs {
				value, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for _, name := range value.Names {
					ident(name)
				}
				for _, expr := range value.Values {
					if literal, ok := expr.(*ast.BasicLit); ok && literal.Kind == token.STRING && n.Tok == token.CONST {
						if text, err := strconv.Unquote(literal.Value); err == nil && camelCase.MatchString(text) {
							found(text, literal.Pos(), false)
						}
					}
				}
			}
		case *ast.Field:
			for _, name := range n.Names {
				ident(name)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					ident(left)
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				ident(n.Key)
				ident(n.Value)
			}
		}
		return true
	})
}

// wordsIn returns the names of files, packages and declarations that have a word of their folder's vocabulary.
func wordsIn(t *testing.T, files map[string]*ast.File) (hits []string) {
	t.Helper()
	vocabularies := cases.Read[map[string]map[string]string](t, wordsFile)
	terms := cases.Read[struct {
		Extends, Message, Level string
		Ignorecase              bool
		Swap                    map[string]string
	}](t, termsFile)
	for _, words := range vocabularies {
		maps.Copy(words, terms.Swap)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := files[name]
		top, _, _ := strings.Cut(name, "/")
		words := vocabularies[top]
		if words == nil || ast.IsGenerated(file) || strings.HasPrefix(name, "test/session/cluster/") { // not yet that package
			continue
		}
		pkg := strings.TrimSuffix(file.Name.Name, "_test")
		check := func(of string, line int, exact bool) {
			for _, word := range slices.Sorted(maps.Keys(words)) {
				hit := exact && pkg+"."+of == word
				if !strings.Contains(word, ".") {
					in := wordsOf(of)
					hit = strings.Contains(in, " "+word+" ") || strings.Contains(in, " "+word+"s ") || strings.Contains(in, " "+word+"es ")
				}
				if hit {
					hits = append(hits, fmt.Sprintf("%s:%d: %s has the word %q: write %s", name, line, of, word, words[word]))
				}
			}
		}
		check(strings.TrimSuffix(path.Base(name), ".go"), 1, false)
		declared(file, func(of string, at token.Pos, exact bool) { check(of, positions.Position(at).Line, exact) })
	}
	return slices.Compact(hits)
}

func TestWords(t *testing.T) {
	hits := wordsIn(t, load(t, os.DirFS("../..")))
	require.Empty(t, hits, strings.Join(hits, "\n"))
}

func TestWordsIn(t *testing.T) {
	for text, want := range map[string]string{
		"func castOff() {}":                               `castOff has the word "cast": write gangDemand`,
		"type StandIns int":                               `StandIns has the word "stand in": write placeholder`,
		"func f(wishes int) {}":                           `wishes has the word "wish": write specification, or preference`,
		"func f() { for suit := range 3 { _ = suit } }":   `suit has the word "suit": write nodeFeasibility`,
		`const reason = "NoRoom"`:                         `NoRoom has the word "room": write capacity, or free resources`,
		"type line int":                                   `line has the word "paddle.line": write tierSet`,
		"func f() { line := 1; _ = line }":                "",
		"func Stop(forecast, broadcast, coverage int) {}": "",
		`var text = "the cast has no room"`:               "",
	} {
		hits := wordsIn(t, load(t, fstest.MapFS{
			"plugins/paddle/job/x.go": {Data: []byte("package paddle\n\n" + text + "\n")}, "cmd/cast.go": {Data: []byte("package main\n")},
		}))
		if want == "" {
			require.Empty(t, hits)
			continue
		}
		require.Equal(t, []string{"plugins/paddle/job/x.go:3: " + want}, hits)
	}
	require.Equal(t, []string{`cmd/kubectl-paddle/describe/story.go:1: story has the word "story": write status, or history`, `cmd/kubectl-paddle/describe/story.go:3: Line has the word "describe.Line": write QueuePosition`},
		wordsIn(t, load(t, fstest.MapFS{"cmd/kubectl-paddle/describe/story.go": {Data: []byte("package describe\n\ntype Line int\n")}})))
	hits := wordsIn(t, load(t, fstest.MapFS{"plugins/room/stand_in.go": {Data: []byte("package room\n")}}))
	require.Equal(t, []string{
		`plugins/room/stand_in.go:1: stand_in has the word "stand in": write placeholder`, `plugins/room/stand_in.go:1: room has the word "room": write capacity, or free resources`,
	}, hits)
}
