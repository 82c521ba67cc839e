// SPDX-License-Identifier: Apache-2.0

package boundaries

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Where each side declares the labels, annotations and finalizers that it reads or writes.
const (
	pluginKeys     = "plugins/paddle/keys.go"
	controllerKeys = "controller/keys/keys.go"
	// reportKeys is the key that the plugin alone writes, and kubectl paddle reads.
	reportKeys = "plugins/paddle/report/keys.go"
	// ownKeys begins all keys that are this project's.
	ownKeys = "batch.paddlepaddle.org/"
)

// key is a constant that holds text.
type key struct{ name, value string }

// called is the key's name without what one side adds to it: JobName and jobNameLabel are one.
func (k key) called() string {
	name := strings.ToLower(k.name)
	for _, kind := range []string{"label", "annotation", "finalizer"} {
		name = strings.TrimSuffix(name, kind)
	}
	return name
}

func keysAgree(tree *Tree) (broken []string) {
	ours, err := keysOf(tree, controllerKeys)
	if err != nil {
		return []string{err.Error()}
	}
	theirs, err := keysOf(tree, pluginKeys)
	if err != nil {
		return []string{err.Error()}
	}
	for _, read := range theirs {
		byName := slices.IndexFunc(ours, func(k key) bool { return k.called() == read.called() })
		byValue := slices.IndexFunc(ours, func(k key) bool { return k.value == read.value })
		switch {
		case byName >= 0 && ours[byName].value != read.value:
			broken = append(broken, fmt.Sprintf("%s is %q in %s and %q in %s", read.name, read.value, pluginKeys, ours[byName].value, controllerKeys))
		case byValue >= 0 && ours[byValue].called() != read.called():
			broken = append(broken, fmt.Sprintf("%q is %s in %s and %s in %s", read.value, read.name, pluginKeys, ours[byValue].name, controllerKeys))
		case byValue < 0 && strings.HasPrefix(read.value, ownKeys):
			broken = append(broken, fmt.Sprintf("%s = %q is in %s and not in %s: nobody writes what the plugin would read", read.name, read.value, pluginKeys, controllerKeys))
		}
	}
	return broken
}

func keysOf(tree *Tree, name string) ([]key, error) {
	at := slices.IndexFunc(tree.Files, func(f *File) bool { return f.Path == name })
	if at < 0 {
		return nil, fmt.Errorf("%s, which declares the keys of its side, is missing", name)
	}
	var keys []key
	for _, declaration := range tree.Files[at].syntax.Decls {
		constants, ok := declaration.(*ast.GenDecl)
		if !ok || constants.Tok != token.CONST {
			continue
		}
		for _, spec := range constants.Specs {
			values := spec.(*ast.ValueSpec) //nolint:errcheck // a declaration of constants holds nothing else
			for i, value := range values.Values {
				if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					keys = append(keys, key{values.Names[i].Name, unquote(literal)})
				}
			}
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s declares no key", name)
	}
	return keys, nil
}

func keysScattered(tree *Tree) (broken []string) {
	for _, file := range tree.Files {
		product := under(file.Dir, "controller") || under(file.Dir, "plugins") || under(file.Dir, "cmd")
		if !product || file.Test || file.Generated || file.Path == pluginKeys || file.Path == controllerKeys || file.Path == reportKeys {
			continue
		}
		for _, value := range file.Strings {
			// The API's own group and version is no key.
			if strings.Contains(value, ownKeys) && value != ownKeys+"v1" {
				broken = append(broken, fmt.Sprintf("%s holds the key %q: declare it in its side's keys.go", file.Path, value))
			}
		}
	}
	return broken
}
