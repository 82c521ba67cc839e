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
	// but is a folder inside for which the wall does not stand, and gate a path that may be imported nevertheless.
	but, gate string
}

var walls = []wall{
	{folder: "plugins", forbidden: []string{module + "/controller"}, tests: true, why: "the scheduler's side works without the controller"},
	{folder: "controller", forbidden: []string{module + "/plugins"}, tests: true, why: "the controller works with any scheduler that knows PodGroups"},
	{folder: "controller", forbidden: []string{"volcano.sh/volcano"}, tests: true, why: "the controller talks to Volcano through its API (volcano.sh/apis)"},
	{folder: "plugins", forbidden: tools, why: "products do not rest on their tools"},
	{folder: "controller", forbidden: tools, why: "products do not rest on their tools"},
	{folder: plugin, forbidden: scheduler, tests: true, but: planner, gate: report, why: "of kubectl paddle only whatif has a scheduler in it"},
	{folder: planner, forbidden: scheduler, tests: true, gate: replay, why: "whatif asks the scheduler by " + replay + ", and knows nothing else of it"},
	{folder: plugin, forbidden: []string{module + "/test", module + "/hack"}, why: "products do not rest on their tools"},
	{folder: "deploy", forbidden: []string{module}, why: "manifests are data"},
	{folder: "plugins/placement", forbidden: []string{"os", "net", "syscall", "math/rand"}, why: "placement is pure: no input but its arguments, and the same answer every time"},
}

// kubectl paddle plan runs the scheduler in its own process; the rest of the command talks to API servers only, and would
// go on without.
const (
	planner = plugin + "/whatif"
	replay  = module + "/plugins/paddle/replay"
	// report is data that the plugin writes and kubectl paddle reads.
	report = module + "/plugins/paddle/report"
)

var (
	tools     = []string{module + "/test", module + "/cmd", module + "/hack"}
	scheduler = []string{module + "/plugins/paddle", "volcano.sh/volcano", "k8s.io/kubernetes"}
)

func imports(tree *Tree) (broken []string) {
	for _, file := range tree.Files {
		for _, wall := range walls {
			if !under(file.Dir, wall.folder) || file.Test && !wall.tests || wall.but != "" && under(file.Dir, wall.but) {
				continue
			}
			for _, path := range file.Imports {
				if path == wall.gate || path == report && wall.folder == planner {
					continue
				}
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
		allowed = append(allowed, "github.com/stretchr/testify", "github.com/google/go-cmp", module+"/test/placement")
	}
	for _, path := range file.Imports {
		first, _, _ := strings.Cut(path, "/")
		if strings.Contains(first, ".") && !slices.ContainsFunc(allowed, func(folder string) bool { return under(path, folder) }) {
			broken = append(broken, fmt.Sprintf("%s imports %s: placement rests on the standard library alone", file.Path, path))
		}
	}
	return broken
}
