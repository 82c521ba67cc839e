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
)

// vocabularies are the words that the names of each folder do not have, and what is written in their place.
var vocabularies = map[string]map[string]string{
	"plugins":    pluginWords,
	"controller": controllerWords,
	"cmd":        commandWords,
}

// controllerWords are the controller's, as pluginWords are the plugin's.
var controllerWords = map[string]string{
	"again":      "retry, recreate",
	"anew":       "again",
	"assumed":    "mutated",
	"carry out":  "apply",
	"census":     "gauge",
	"departure":  "deletion",
	"elsewhere":  "managedExternally",
	"excuse":     "markOutOfSync",
	"farewell":   "completionEvent",
	"fence":      "writeGuard",
	"forgotten":  "lost",
	"gone":       "notFound, deleted",
	"heed":       "honor",
	"held":       "capped",
	"let in":     "admitted",
	"look again": "requeueAfter",
	"missed":     "unobserved",
	"notice":     "cause",
	"pace":       "latency",
	"patience":   "debounce",
	"room":       "capacity",
	"said":       "message",
	"stamp":      "firstSeen",
	"start over": "recreate",
	"story":      "conditions",
	"streak":     "unacknowledged",
	"told":       "reported",
	"trains":     "trainingContainer",
	"unapplied":  "notSynced",
	"unmade":     "missing",
	"view":       "observed",
	"wake":       "nudge",
	"whose":      "authenticate",
	"wish":       "overrides",
}

// commandWords are those of the command line.
var commandWords = map[string]string{
	"anew":      "again",
	"fate":      "Outcome",
	"gone":      "deleted, displaced",
	"heed":      "honor",
	"leave out": "printSkipped",
	"room":      "capacity",
	"story":     "describe",
	"tail":      "follow, most recent lines",
	"told":      "reported",
	"whatif":    "simulation",
	"what if":   "simulation",

	"describe.Ahead": "QueuePosition",
	"describe.Line":  "QueuePosition",
}

// pluginWords has words as parts of names: "stand in" is in standIn, StandIns and stand_in.go. A word with a dot is one
// type or function, in one package: elsewhere the word is an ordinary one.
var pluginWords = map[string]string{
	"anew":      "again",
	"applicant": "candidate",
	"as stock":  "withStockTiers",
	"blame":     "isNodeFault",
	"cast":      "gangDemand",
	"cheap":     "nonDisruptive",
	"company":   "serverDomain",
	"course":    "Planner",
	"doubt":     "problem",
	"fence":     "constraint",
	"give back": "release",
	"gone":      "evicted, deleted",
	"harm":      "fragmentation",
	"heed":      "honor",
	"hopeless":  "provablyInfeasible",
	"house":     "planSubJobs",
	"keeper":    "stateStore",
	"leaning":   "softConstraints",
	"ledger":    "accounting",
	"let end":   "relaxForCompletion",
	"lonely":    "workersWithoutServer",
	"numeral":   "(nothing: no text is searched for numbers)",
	"podless":   "withoutPods",
	"refill":    "capacityIncrease",
	"room":      "capacity, free",
	"said":      "reported",
	"seat":      "placedMember",
	"stand in":  "placeholder",
	"standing":  "evictability",
	"stranger":  "unknownMember",
	"suit":      "nodeFeasibility",
	"tally":     "roleCount",
	"told":      "reported",
	"verdict":   "Report",
	"wish":      "Spec",

	"paddle.finish":        "evictRemainder",
	"paddle.lets":          "allows",
	"paddle.line":          "tierSet",
	"paddle.stage":         "resourceView",
	"paddle.wall":          "domainBound",
	"constraints.lets":     "allows",
	"constraints.wall":     "domainBound",
	"planner.stage":        "resourceView",
	"preempt.finish":       "evictRemainder",
	"placement.Relaxation": "Suggestion",
	"placement.Stop":       "Blocker",
	"diagnose.Relaxation":  "Suggestion",
	"diagnose.Stop":        "Blocker",
	"solver.attract":       "swapDescent",
	"solver.board":         "partialAssignment",
	"solver.cover":         "knapsackCover",
	"solver.few":           "isSmall",
	"solver.gather":        "groupedStart",
	"solver.lots":          "roleDemand",
	"solver.settle":        "refineExact",
	"topology.plant":       "build",
}

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
func wordsIn(files map[string]*ast.File) (hits []string) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := files[name]
		top, _, _ := strings.Cut(name, "/")
		words := vocabularies[top]
		// Not yet plugins/paddle itself, whose files still have names of the planner that they hold.
		if words == nil || ast.IsGenerated(file) {
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
	hits := wordsIn(load(t, os.DirFS("../..")))
	require.Empty(t, hits, strings.Join(hits, "\n"))
}

func TestWordsIn(t *testing.T) {
	for text, want := range map[string]string{
		"func castOff() {}":                               `castOff has the word "cast": write gangDemand`,
		"type StandIns int":                               `StandIns has the word "stand in": write placeholder`,
		"func f(wishes int) {}":                           `wishes has the word "wish": write Spec`,
		"func f() { for suit := range 3 { _ = suit } }":   `suit has the word "suit": write nodeFeasibility`,
		`const reason = "NoRoom"`:                         `NoRoom has the word "room": write capacity, free`,
		"type line int":                                   `line has the word "paddle.line": write tierSet`,
		"func f() { line := 1; _ = line }":                "",
		"func Stop(forecast, broadcast, coverage int) {}": "",
		`var text = "the cast has no room"`:               "",
	} {
		hits := wordsIn(load(t, fstest.MapFS{
			"plugins/paddle/job/x.go": {Data: []byte("package paddle\n\n" + text + "\n")}, "cmd/cast.go": {Data: []byte("package main\n")},
		}))
		if want == "" {
			require.Empty(t, hits)
			continue
		}
		require.Equal(t, []string{"plugins/paddle/job/x.go:3: " + want}, hits)
	}
	require.Equal(t, []string{`cmd/kubectl-paddle/describe/story.go:1: story has the word "story": write describe`, `cmd/kubectl-paddle/describe/story.go:3: Line has the word "describe.Line": write QueuePosition`},
		wordsIn(load(t, fstest.MapFS{"cmd/kubectl-paddle/describe/story.go": {Data: []byte("package describe\n\ntype Line int\n")}})))
	hits := wordsIn(load(t, fstest.MapFS{"plugins/room/stand_in.go": {Data: []byte("package room\n")}}))
	require.Equal(t, []string{
		`plugins/room/stand_in.go:1: stand_in has the word "stand in": write placeholder`, `plugins/room/stand_in.go:1: room has the word "room": write capacity, free`,
	}, hits)
}
