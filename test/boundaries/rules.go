// SPDX-License-Identifier: Apache-2.0

package boundaries

import (
	"fmt"
	"slices"
	"strings"
)

// Rule is one rule of the house: its name, and what breaks it in a repository, one sentence each.
type Rule struct {
	Name   string
	Broken func(*Tree) []string
}

// Rules are all rules of the house.
func Rules() []Rule {
	return []Rule{
		{"the top-level folders are the house's", folders},
		{"commands are thin mains", mains},
		{"no package is named for being shared", names},
		{"each package says what it is", comments},
		{"each file says its license", licenses},
		{"both sides know the same keys", keysAgree},
		{"keys are declared in one place of each side", keysScattered},
	}
}

func folders(tree *Tree) (broken []string) {
	house := []string{"cmd", "controller", "deploy", "hack", "plugins", "test"}
	for _, folder := range tree.Folders {
		if !slices.Contains(house, folder) {
			broken = append(broken, fmt.Sprintf("%s/ is not a folder of the house: %s", folder, strings.Join(house, ", ")))
		}
	}
	for _, folder := range house {
		if !slices.Contains(tree.Folders, folder) {
			broken = append(broken, folder+"/ is missing")
		}
	}
	return broken
}

// plugin is the command that keeps its packages below its main: kubectl paddle is a product of its own, and neither the
// scheduler nor the controller rests on it.
const plugin = "cmd/kubectl-paddle"

func mains(tree *Tree) (broken []string) {
	for _, file := range tree.Files {
		if under(file.Dir, "cmd") && file.Package != "main" && !strings.HasPrefix(file.Dir, plugin+"/") {
			broken = append(broken, fmt.Sprintf("%s is package %s: what is not main belongs to plugins/, controller/ or test/", file.Path, file.Package))
		}
	}
	return broken
}

func names(tree *Tree) (broken []string) {
	forbidden := []string{"util", "utils", "common", "helper", "helpers", "misc", "shared"}
	for _, file := range tree.Files {
		if !file.Generated && slices.Contains(forbidden, strings.TrimSuffix(file.Package, "_test")) {
			broken = append(broken, fmt.Sprintf("%s is package %s: name it for what it does", file.Path, file.Package))
		}
	}
	return broken
}

func comments(tree *Tree) (broken []string) {
	type folder struct{ documented, own bool }
	found := map[string]*folder{}
	var dirs []string
	for _, file := range tree.Files {
		if found[file.Dir] == nil {
			found[file.Dir] = &folder{}
			dirs = append(dirs, file.Dir)
		}
		f := found[file.Dir]
		f.own = f.own || !file.Generated
		name := strings.TrimSuffix(file.Package, "_test")
		f.documented = f.documented || strings.HasPrefix(file.Doc, "Package "+name+" ") || name == "main" && file.Doc != ""
	}
	for _, dir := range dirs {
		if found[dir].own && !found[dir].documented {
			broken = append(broken, dir+" has no package comment (\"Package name ...\")")
		}
	}
	return broken
}

func licenses(tree *Tree) (broken []string) {
	const license = "// SPDX-License-Identifier: Apache-2.0"
	for _, file := range tree.Files {
		if !file.Generated && file.FirstLine != license {
			broken = append(broken, fmt.Sprintf("%s does not begin with %q", file.Path, license))
		}
	}
	return broken
}
