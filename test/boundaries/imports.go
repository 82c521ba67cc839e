// SPDX-License-Identifier: Apache-2.0

package boundaries

import (
	"fmt"
	"slices"
	"strings"
)

const module = "github.com/paddle-volcano/paddle-volcano"

// wall keeps imports out of a folder.
type wall struct {
	folder string
	// forbidden are the paths that nothing in the folder may import, nor anything below them.
	forbidden []string
	// tests says whether the wall stands for tests too.
	tests bool
	why   string
}

var walls = []wall{
	{"plugins", []string{module + "/controller"}, true, "the scheduler's side works without the controller"},
	{"controller", []string{module + "/plugins"}, true, "the controller works with any scheduler that knows PodGroups"},
	{"controller", []string{"volcano.sh/volcano"}, true, "the controller talks to Volcano through its API (volcano.sh/apis)"},
	{"plugins", []string{module + "/test", module + "/cmd", module + "/hack"}, false, "products do not rest on their tools"},
	{"controller", []string{module + "/test", module + "/cmd", module + "/hack"}, false, "products do not rest on their tools"},
	{plugin, []string{module + "/plugins/paddle", "volcano.sh/volcano", "k8s.io/kubernetes"}, true, "kubectl paddle stays light: it has no scheduler in it"},
	{plugin, []string{module + "/test", module + "/hack"}, false, "products do not rest on their tools"},
	{"deploy", []string{module}, false, "manifests are data"},
	{"plugins/placement", []string{"os", "net", "syscall", "math/rand"}, false, "placement is pure: no input but its arguments, and the same answer every time"},
}

func imports(tree *Tree) (broken []string) {
	for _, file := range tree.Files {
		for _, wall := range walls {
			if !under(file.Dir, wall.folder) || file.Test && !wall.tests {
				continue
			}
			for _, path := range file.Imports {
				for _, forbidden := range wall.forbidden {
					if under(path, forbidden) {
						broken = append(broken, fmt.Sprintf("%s imports %s: %s", file.Path, path, wall.why))
					}
				}
			}
		}
		broken = append(broken, foreign(file)...)
	}
	return broken
}

// foreign keeps everything but the standard library out of placement, since what another module imports cannot be seen
// from here; its tests may compare.
func foreign(file *File) (broken []string) {
	if !under(file.Dir, "plugins/placement") {
		return nil
	}
	allowed := []string{module + "/plugins/placement"}
	if file.Test {
		allowed = append(allowed, "github.com/stretchr/testify", "github.com/google/go-cmp")
	}
	for _, path := range file.Imports {
		first, _, _ := strings.Cut(path, "/")
		if strings.Contains(first, ".") && !slices.ContainsFunc(allowed, func(folder string) bool { return under(path, folder) }) {
			broken = append(broken, fmt.Sprintf("%s imports %s: placement rests on the standard library alone", file.Path, path))
		}
	}
	return broken
}
