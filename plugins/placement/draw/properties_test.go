// SPDX-License-Identifier: Apache-2.0

package draw_test

import (
	"encoding/xml"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// element is one of a drawing's.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []*element `xml:",any"`
}

func (e *element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (e *element) number(t *testing.T, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(e.attr(name), 64)
	require.NoError(t, err, "%s of %s", name, e.XMLName.Local)
	return v
}

// title returns the element's tooltip.
func (e *element) title() string {
	for _, c := range e.Children {
		if c.XMLName.Local == "title" {
			return c.Text
		}
	}
	return ""
}

// all returns the elements of a kind in the order of the file, without those of patterns.
func (e *element) all(kind string) (found []*element) {
	for _, c := range e.Children {
		if c.XMLName.Local == kind {
			found = append(found, c)
		}
		if c.XMLName.Local != "defs" {
			found = append(found, c.all(kind)...)
		}
	}
	return found
}

func parsed(t *testing.T, j job) *element {
	t.Helper()
	root := &element{}
	require.NoError(t, xml.Unmarshal(drawn(t, j), root))
	return root
}

type point struct{ x, y float64 }

var moveTo = regexp.MustCompile(`M([\d.]+),([\d.]+)`)

// begins returns where the parts of a path begin.
func begins(t *testing.T, path *element) (points []point) {
	t.Helper()
	for _, m := range moveTo.FindAllStringSubmatch(path.attr("d"), -1) {
		x, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		y, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
		points = append(points, point{x, y})
	}
	return points
}

type area struct{ x, y, w, h float64 }

func (a area) holds(p point) bool {
	return a.x <= p.x && p.x <= a.x+a.w && a.y <= p.y && p.y <= a.y+a.h
}

func areaOf(t *testing.T, rect *element) area {
	t.Helper()
	a := area{w: rect.number(t, "width"), h: rect.number(t, "height")}
	if rect.attr("x") != "" {
		a.x, a.y = rect.number(t, "x"), rect.number(t, "y")
	}
	return a
}

// nodes returns the boxes of nodes by the nodes' names; each name is there once.
func nodes(t *testing.T, root *element) map[string]area {
	t.Helper()
	found := map[string]area{}
	for i, e := range root.Children {
		if e.XMLName.Local == "rect" && e.attr("class") == "node" {
			label := root.Children[i+1]
			name := label.title()
			if name == "" {
				name = label.Text
			}
			require.NotContains(t, found, name)
			found[name] = areaOf(t, e)
		}
	}
	return found
}

func TestNothingLiesOutsideTheViewBox(t *testing.T) {
	for name, job := range jobs(t) {
		t.Run(name, func(t *testing.T) {
			root := parsed(t, job)
			sheet := area{w: root.number(t, "width"), h: root.number(t, "height")}
			require.Equal(t, fmt.Sprintf("0 0 %g %g", sheet.w, sheet.h), root.attr("viewBox"))
			for _, rect := range root.all("rect") {
				a := areaOf(t, rect)
				require.True(t, sheet.holds(point{a.x, a.y}) && sheet.holds(point{a.x + a.w, a.y + a.h}), "%v", a)
			}
			for _, path := range root.all("path") {
				for _, p := range begins(t, path) {
					require.True(t, sheet.holds(p), "%v", p)
				}
			}
			for _, text := range root.all("text") {
				// No letter is narrower than a fifth of its height.
				at, size := point{text.number(t, "x"), text.number(t, "y")}, text.number(t, "font-size")
				end := point{at.x + size*float64(utf8.RuneCountInString(text.Text))/5, at.y}
				require.True(t, sheet.holds(at) && sheet.holds(end), "%s at %v", text.Text, at)
			}
		})
	}
}

// A pod has a square for each GPU, or one round mark without GPUs, in the box of its node. A node's other squares are the GPUs that
// are free after the plan, and those that others hold.
func TestSquaresAreGPUs(t *testing.T) {
	held := map[string]map[string]int{"ring": {"n4": 2}} // by pods of other jobs
	for name, job := range jobs(t) {
		t.Run(name, func(t *testing.T) {
			root := parsed(t, job)
			boxes, free := nodes(t, root), map[string]int{}
			check := func(role, index int, id placement.NodeID) {
				node := readable(job.topology.NodeName(id))
				prefix := readable(fmt.Sprintf("%s %d on %s", job.demand.Roles[role].Name, index, job.topology.NodeName(id)))
				for _, g := range root.all("g") {
					if title := g.title(); title != prefix && !strings.HasPrefix(title, prefix+":") {
						continue
					}
					gpus := int(job.topology.GPUs(job.demand.Roles[role].Request))
					if gpus == 0 {
						marks := g.all("rect")
						require.Len(t, marks, 1)
						mark := areaOf(t, marks[0])
						require.True(t, boxes[node].holds(point{mark.x, mark.y}))
						return
					}
					paths := g.all("path")
					squares := begins(t, paths[len(paths)-1])
					require.Len(t, squares, gpus, prefix)
					for _, p := range squares {
						require.True(t, boxes[node].holds(p), prefix)
					}
					return
				}
				require.Fail(t, "not drawn", prefix)
			}
			for r, role := range job.demand.Roles {
				for _, member := range role.Placed {
					check(r, member.Index, member.Node)
					free[readable(job.topology.NodeName(member.Node))] = int(job.topology.FreeGPUs(placement.DomainID(member.Node)))
				}
			}
			for _, a := range job.plan.Assignments {
				check(a.Role, a.Index, a.Node)
				free[readable(job.topology.NodeName(a.Node))] = int(job.topology.FreeGPUs(placement.DomainID(a.Node)))
			}
			require.Len(t, boxes, len(free), "nodes with pods")
			for _, a := range job.plan.Assignments {
				free[readable(job.topology.NodeName(a.Node))] -= int(job.topology.GPUs(job.demand.Roles[a.Role].Request))
			}
			for node, box := range boxes {
				count := map[string]int{}
				for _, path := range root.all("path") {
					for _, p := range begins(t, path) {
						if box.holds(p) {
							count[path.attr("class")]++
						}
					}
				}
				require.Equal(t, []int{free[node], held[name][node]}, []int{count["free"], count["other"]}, "free and held by others on %s", node)
			}
		})
	}
}

var strokeWidth = regexp.MustCompile(`\.u([1-4])\{stroke:[^;]+;stroke-width:([\d.]+)\}`)

// Each uplink that carries something is drawn once, the wider the more it carries.
func TestUplinksAreWiderTheMoreTheyCarry(t *testing.T) {
	for name, job := range jobs(t) {
		t.Run(name, func(t *testing.T) {
			root := parsed(t, job)
			width := map[string]float64{"u0": 0}
			for _, m := range strokeWidth.FindAllStringSubmatch(root.all("style")[0].Text, -1) {
				v, err := strconv.ParseFloat(m[2], 64)
				require.NoError(t, err)
				width["u"+m[1]] = v
			}
			require.Len(t, width, 5)
			for i := range 4 {
				require.Less(t, width[fmt.Sprint("u", i)], width[fmt.Sprint("u", i+1)])
			}
			classes := map[string]string{}
			for _, g := range root.all("g") {
				if uplink, ok := strings.CutPrefix(g.title(), "uplink of "); ok {
					uplink = uplink[:strings.LastIndex(uplink, ": ")]
					require.NotContains(t, classes, uplink)
					classes[uplink] = g.all("path")[0].attr("class")
				}
			}
			loads, err := placement.Uplinks(job.topology, &job.demand, job.plan.Assignments)
			require.NoError(t, err)
			most := 0.0
			for _, load := range loads {
				most = max(most, load.Bytes)
			}
			require.Positive(t, most)
			for _, load := range loads {
				tier := job.topology.Tiers()[job.topology.TierOf(load.Domain)].Name
				uplink := readable(tier + " " + job.topology.DomainName(load.Domain))
				require.Equal(t, fmt.Sprint("u", math.Ceil(4*load.Bytes/most)), classes[uplink], uplink)
				delete(classes, uplink)
			}
			for uplink, class := range classes {
				require.Equal(t, "u0", class, "%s carries nothing", uplink)
			}
		})
	}
}

// The legend names each role once, with the number of its pods.
func TestLegendNamesEachRole(t *testing.T) {
	for name, job := range jobs(t) {
		var texts []string
		for _, text := range parsed(t, job).all("text") {
			texts = append(texts, text.Text)
		}
		for r, role := range job.demand.Roles {
			pods := len(role.Placed)
			for _, a := range job.plan.Assignments {
				if a.Role == r {
					pods++
				}
			}
			count := 0
			for _, text := range texts {
				if rest, ok := strings.CutPrefix(text, readable(role.Name)+": "); ok {
					require.Regexp(t, fmt.Sprintf(`^%d pods?\b`, pods), rest, name)
					count++
				}
			}
			require.Equal(t, 1, count, "%s: role %s", name, role.Name)
		}
	}
}
