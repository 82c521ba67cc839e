// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// Hint returns a suggestion for the path of a field that a PaddleJob does not have, "" if there is none.
func Hint(path string) string {
	root := reflect.TypeFor[v1.PaddleJob]()
	parts := strings.Split(path, ".")
	parent, last := parts[:len(parts)-1], parts[len(parts)-1]
	in := root
	for _, part := range parent {
		name, _, _ := strings.Cut(part, "[")
		next, ok := fields(in)[name]
		if !ok {
			return ""
		}
		in = next
	}
	known := slices.Sorted(maps.Keys(fields(in)))
	prefix := strings.Join(parent, ".")
	if prefix != "" {
		prefix += "."
	}
	if name := nearest(last, known); name != "" {
		return "did you mean " + prefix + name + "?"
	}
	if places := fieldsNamed(root, "", last, 3); len(places) > 0 {
		return "did you mean " + strings.Join(places, " or ") + "?"
	}
	const maxListed = 12
	if len(known) == 0 || len(known) > maxListed {
		return ""
	}
	return "known there are " + strings.Join(known, ", ")
}

// fields returns those of a struct by their names in JSON, of a list its elements'.
func fields(t reflect.Type) map[string]reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	found := map[string]reflect.Type{}
	if t.Kind() != reflect.Struct {
		return found
	}
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "" && (field.Anonymous || strings.Contains(options, "inline")):
			for name, t := range fields(field.Type) {
				found[name] = t
			}
		case name != "" && name != "-":
			found[name] = field.Type
		}
	}
	return found
}

// fieldsNamed returns the paths of fields of a name in the API's own types.
func fieldsNamed(t reflect.Type, prefix, name string, deep int) (places []string) {
	if deep == 0 {
		return nil
	}
	all := fields(t)
	for _, field := range slices.Sorted(maps.Keys(all)) {
		if field == "status" || field == "metadata" {
			continue
		}
		if field == name {
			places = append(places, prefix+field)
		}
		below := all[field]
		for below.Kind() == reflect.Pointer {
			below = below.Elem()
		}
		if below.PkgPath() == t.PkgPath() {
			places = append(places, fieldsNamed(below, prefix+field+".", name, deep-1)...)
		}
	}
	return places
}

// nearest returns the name that differs least, "" if all differ much.
func nearest(name string, known []string) string {
	best, least := "", max(2, len(name)/3)+1
	for _, candidate := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(candidate)); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance is Levenshtein's: how many letters have to be added, dropped or changed.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
