// SPDX-License-Identifier: Apache-2.0

package boundaries

import (
	"fmt"
	"go/ast"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fields are an API's, by their paths; true are those that a row must name, the others are what leads to them.
type fields map[string]bool

// row is one of a table whose last column names tests.
type row struct {
	line int
	// kind is field or behaviour, and of is whose.
	kind, of string
	cells    []string
}

// brokenRows are the faults of all tables in a text whose last column is called test, given the tests of each package, the
// words that our code says, and the fields of each API that such tables are about.
func brokenRows(text string, tests map[string]map[string]bool, words map[string]bool, apis map[string]fields) []string {
	rows, broken := rowsOf(text)
	named := map[string]map[string]bool{}
	behaviours := map[string]bool{}
	for _, r := range rows {
		add := func(format string, args ...any) {
			broken = append(broken, fmt.Sprintf("line %d: ", r.line)+fmt.Sprintf(format, args...))
		}
		known, api := apis[r.of]
		switch {
		case !api:
			add("nothing is known of %s", r.of)
			continue
		case r.kind == "behaviour":
			behaviours[r.of] = true
		default:
			if named[r.of] == nil {
				named[r.of] = map[string]bool{}
			}
			paths := pathsIn(r.cells[0])
			if len(paths) == 0 {
				add("it names no field")
			}
			for _, path := range paths {
				if named[r.of][path] = true; !known.have(path) {
					add("%s is no field of the API", path)
				}
			}
		}
		for _, word := range reason.FindAllStringSubmatch(r.cells[len(r.cells)-2], -1) {
			if !words[word[1]] {
				add("nothing says %s", word[1])
			}
		}
		for _, fault := range faultsOf(r.cells[len(r.cells)-1], tests) {
			add("%s", fault)
		}
	}
	for _, of := range slices.Sorted(maps.Keys(apis)) {
		for _, path := range slices.Sorted(maps.Keys(apis[of])) {
			if apis[of][path] && !named[of][path] {
				broken = append(broken, fmt.Sprintf("%s stands in no table of fields of %s", path, of))
			}
		}
		if !behaviours[of] {
			broken = append(broken, "there is no table of behaviours of "+of)
		}
	}
	return broken
}

// rowsOf are the rows of all tables whose last column is called test, and what is wrong with their form.
func rowsOf(text string) (rows []row, broken []string) {
	lines := strings.Split(text, "\n")
	for at := 0; at < len(lines); at++ {
		header := cellsOf(lines[at])
		if len(header) < 2 || header[len(header)-1] != "test" {
			continue
		}
		if header[0] != "field" && header[0] != "behaviour" {
			broken = append(broken, fmt.Sprintf("line %d: the table is of %ss, not of fields or behaviours", at+1, header[0]))
		}
		head := at + 1
		for at += 2; at < len(lines) && strings.HasPrefix(lines[at], "|"); at++ {
			cells := cellsOf(lines[at])
			if len(cells) != len(header) {
				broken = append(broken, fmt.Sprintf("line %d: it has %d columns, and its table %d", at+1, len(cells), len(header)))
				continue
			}
			rows = append(rows, row{line: at + 1, kind: header[0], of: header[1], cells: cells})
		}
		if at == head+1 {
			broken = append(broken, fmt.Sprintf("line %d: the table is empty", head))
		}
	}
	return rows, broken
}

// cellsOf are the cells of a line of a table, none if it is no such line.
func cellsOf(line string) []string {
	if !strings.HasPrefix(line, "|") || !strings.HasSuffix(line, "|") || len(line) < 2 {
		return nil
	}
	const escaped = "\x00"
	cells := strings.Split(strings.ReplaceAll(line[1:len(line)-1], `\|`, escaped), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], escaped, "|"))
	}
	return cells
}

var (
	fieldPath = regexp.MustCompile("`((?:spec|status|metadata)[][.*{},A-Za-z]*)`")
	// reason is a word with a capital letter within.
	reason  = regexp.MustCompile("`([A-Z][A-Za-z0-9]*[a-z][A-Z][A-Za-z0-9]*)`")
	shownBy = regexp.MustCompile("^`([a-z0-9/]+)((?: (?:Test|Fuzz)[A-Za-z0-9_]+)+)`$")
)

// pathsIn are the paths of fields that a cell names.
func pathsIn(cell string) (paths []string) {
	for _, found := range fieldPath.FindAllStringSubmatch(cell, -1) {
		paths = append(paths, expanded(found[1])...)
	}
	return paths
}

// expanded writes a path with alternatives, such as spec.{ps,worker}.replicas, as one path for each.
func expanded(path string) []string {
	before, rest, some := strings.Cut(path, "{")
	choices, after, closed := strings.Cut(rest, "}")
	if !some || !closed {
		return []string{path}
	}
	var paths []string
	for _, end := range expanded(after) {
		for choice := range strings.SplitSeq(choices, ",") {
			paths = append(paths, before+choice+end)
		}
	}
	return paths
}

// have says whether a path is a field, or lies in one that is not the API's own to describe.
func (f fields) have(path string) bool {
	if _, known := f[path]; known || strings.HasPrefix(path, "metadata.") {
		return true
	}
	for field, leaf := range f {
		if leaf && (strings.HasPrefix(path, field+".") || strings.HasPrefix(path, field+"[")) {
			return true
		}
	}
	return false
}

// faultsOf says what is wrong with the cell that names tests.
func faultsOf(cell string, tests map[string]map[string]bool) (faults []string) {
	if cell == "" {
		return []string{"nothing shows it: name a package and its tests"}
	}
	for item := range strings.SplitSeq(cell, ", ") {
		found := shownBy.FindStringSubmatch(item)
		if found == nil {
			faults = append(faults, fmt.Sprintf("%q is not a package with the names of its tests between two `", item))
			continue
		}
		if tests[found[1]] == nil {
			faults = append(faults, fmt.Sprintf("there is no package %s with tests", found[1]))
			continue
		}
		for _, name := range strings.Fields(found[2]) {
			if !tests[found[1]][name] {
				faults = append(faults, fmt.Sprintf("%s has no test %s", found[1], name))
			}
		}
	}
	return faults
}

// wordsIn are the texts in the code of the controller.
func wordsIn(tree *Tree) map[string]bool {
	found := map[string]bool{}
	for _, file := range tree.Files {
		if under(file.Dir, "controller") && !file.Test && !file.Generated {
			for _, text := range file.Strings {
				found[text] = true
			}
		}
	}
	return found
}

// testsIn are the tests and fuzz targets of each folder.
func testsIn(tree *Tree) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	for _, file := range tree.Files {
		if !file.Test {
			continue
		}
		for _, declaration := range file.syntax.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok || !isTest(function) {
				continue
			}
			if found[file.Dir] == nil {
				found[file.Dir] = map[string]bool{}
			}
			found[file.Dir][function.Name.Name] = true
		}
	}
	return found
}

func isTest(function *ast.FuncDecl) bool {
	if function.Recv != nil || len(function.Type.Params.List) != 1 {
		return false
	}
	pointer, ok := function.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	argument, ok := pointer.X.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	for prefix, kind := range map[string]string{"Test": "T", "Fuzz": "F"} {
		rest, is := strings.CutPrefix(function.Name.Name, prefix)
		first, _ := utf8.DecodeRuneInString(rest)
		if is && rest != "" && !unicode.IsLower(first) && argument.Sel.Name == kind {
			return true
		}
	}
	return false
}

// fieldsOf are the fields of an API type below spec and status, down to types that are not of this API.
func fieldsOf(api reflect.Type) fields {
	found := fields{}
	for _, part := range []string{"Spec", "Status"} {
		field, _ := api.FieldByName(part)
		found.add(strings.ToLower(part), field.Type)
	}
	return found
}

func (f fields) add(path string, t reflect.Type) {
	for {
		switch t.Kind() {
		case reflect.Pointer:
			t = t.Elem()
			continue
		case reflect.Map, reflect.Slice:
			if own(t.Elem()) {
				f[path] = false
				path, t = path+map[reflect.Kind]string{reflect.Map: ".*", reflect.Slice: "[]"}[t.Kind()], t.Elem()
				continue
			}
		}
		break
	}
	if !own(t) {
		f[path] = true
		return
	}
	f[path] = false
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		f.add(path+"."+name, t.Field(i).Type)
	}
}

// own says whether a type is a struct of the API's own.
func own(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && strings.Contains(t.PkgPath(), "/paddle-volcano/controller/apis/")
}
