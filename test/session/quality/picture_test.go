// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

var update = flag.Bool("update", false, "write the picture of README.md again")

// firstName is a plugin that takes the first by name of the nodes with the highest score, where Volcano takes a random one.
const firstName = "first"

type first struct{}

func (first) Name() string                           { return firstName }
func (first) OnSessionClose(*framework.Session)      {}
func (f first) OnSessionOpen(ssn *framework.Session) { ssn.AddBestNodeFn(firstName, f.best) }
func (first) best(_ *api.TaskInfo, scores map[float64][]*api.NodeInfo) (best *api.NodeInfo) {
	highest := 0.0
	for score, nodes := range scores {
		for _, node := range nodes {
			if best == nil || score > highest || score == highest && node.Name < best.Name {
				best, highest = node, score
			}
		}
	}
	return best
}

// pictured returns a cluster on which other jobs run: two racks of three nodes with 8 GPUs each.
func pictured() (cluster.Fleet, cluster.Job) {
	fleet := cluster.Shape{Nodes: 6, PerRack: 3, RacksPerBlock: 2, Capacity: cluster.Amounts{CPU: 64, Memory: 512, GPU: 8}}.Fleet()
	for i, used := range []int64{4, 6, 5, 5, 6, 4} {
		fleet[i].Running = []cluster.Amounts{{CPU: 4 * used, Memory: 16 * used, GPU: used}}
	}
	return fleet, cluster.ServersAndWorkers("job", 2, 6, cluster.Amounts{CPU: 4, Memory: 16}, cluster.Amounts{CPU: 4, Memory: 16, GPU: 1})
}

// picture is where one set-up puts the pods, and what a step then sends between nodes and between racks, in sizes of the model.
type picture struct {
	bound        map[string]string
	nodes, racks float64
}

func take(t *testing.T, setup cluster.Setup, fleet cluster.Fleet, job *cluster.Job) picture {
	t.Helper()
	setup.Percentage = everyNode
	setup.After += "  - name: " + firstName + "\n"
	scheduler, err := cluster.New(setup)
	require.NoError(t, err)
	defer scheduler.Close()
	require.NoError(t, scheduler.AddFleet(fleet, 1))
	scheduler.AddJob(job)
	_, err = scheduler.Session()
	require.NoError(t, err)
	bound := scheduler.Bound(job)
	require.Len(t, bound, job.Pods())
	topology, err := Topology(fleet)
	require.NoError(t, err)
	assignments, err := Assignments(topology, job, bound)
	require.NoError(t, err)
	cost, err := placement.Evaluate(topology, Demand(job), assignments)
	require.NoError(t, err)
	return picture{bound, cost.Tiers[placement.NodeTier].Bytes, cost.Tiers[rackTier].Bytes}
}

// words are the texts of the picture by language.
var words = map[string]map[string]string{
	"": {
		"title": "One job on a busy cluster: 2 parameter servers and 6 workers with a GPU each",
		"stock": "Volcano with its default plugins", "paddle": "Volcano with the plugin paddle", "rack": "rack", "node": "node",
		"nodes": "between nodes", "racks": "between racks", "sends": "A training step sends, for a model of 1 GiB:", "none": "nothing",
		"ps": "parameter server", "worker": "worker", "other": "GPU of other jobs", "free": "free GPU",
	},
	"zh/": {
		"title": "繁忙集群上的一个作业：2 个参数服务器和 6 个 worker，每个 worker 一块 GPU",
		"stock": "使用默认插件的 Volcano", "paddle": "使用插件 paddle 的 Volcano", "rack": "机架", "node": "节点",
		"nodes": "节点之间", "racks": "机架之间", "sends": "模型为 1 GiB 时，每个训练步传输：", "none": "无",
		"ps": "参数服务器", "worker": "worker", "other": "其他作业的 GPU", "free": "空闲 GPU",
	},
}

const pictureStyle = `  <style>
    .rack { fill: #f6f8fa; stroke: #8c959f }
    .node { fill: #ffffff; stroke: #57606a }
    .free { fill: none; stroke: #8c959f; stroke-dasharray: 3 2 }
    .other { fill: #d0d7de; stroke: #8c959f }
    .worker { fill: #1d4ed8; stroke: #1d4ed8 }
    .ps { fill: #f59e0b; stroke: #b45309 }
    .bytes { fill: #cf222e }
    text { fill: #1f2328 }
    .small { font-size: 12px; fill: #57606a }
    .head { font-size: 15px; font-weight: 600 }
    @media (prefers-color-scheme: dark) {
      .rack { fill: #0d1117; stroke: #484f58 }
      .node { fill: #161b22; stroke: #8b949e }
      .other { fill: #30363d; stroke: #484f58 }
      .worker { fill: #58a6ff; stroke: #58a6ff }
      .ps { fill: #d29922; stroke: #d29922 }
      .bytes { fill: #ff7b72 }
      text { fill: #e6edf3 }
      .small { fill: #9da7b1 }
    }
  </style>
`

// draw returns the picture of both placements, left and right.
func draw(word map[string]string, fleet cluster.Fleet, job *cluster.Job, stock, paddle picture) string {
	var svg strings.Builder
	write := func(format string, args ...any) { fmt.Fprintf(&svg, format+"\n", args...) }
	box := func(class string, x, y, width, height int) {
		write(`  <rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="3"/>`, class, x, y, width, height)
	}
	text := func(class string, x, y int, words string) {
		write(`  <text class="%s" x="%d" y="%d">%s</text>`, class, x, y, words)
	}
	write(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 372" font-family="system-ui, sans-serif" font-size="13" role="img" aria-labelledby="t">`)
	write(`  <title id="t">%s</title>`, word["title"])
	svg.WriteString(pictureStyle)
	const half, rackWidth, cell = 440, 204, 20
	most := max(stock.nodes, stock.racks, paddle.nodes, paddle.racks)
	for side, p := range []picture{stock, paddle} {
		x := 10 + side*half
		text("head", x, 22, word[[]string{"stock", "paddle"}[side]])
		for i := range fleet {
			rack, row := i/3, i%3
			left, top := x+rack*(rackWidth+8), 58+row*60
			if row == 0 {
				box("rack", left, 36, rackWidth, 204)
				text("small", left+8, 52, fmt.Sprintf("%s %d", word["rack"], rack+1))
			}
			box("node", left+8, top, rackWidth-16, 54)
			text("small", left+14, top+18, fmt.Sprintf("%s %d", word["node"], i+1))
			servers, workers := 0, 0
			for pod, node := range p.bound {
				switch {
				case node != fleet[i].Name:
				case strings.HasPrefix(pod, job.PodName(cluster.ServerTask, 0)[:len(job.PodName(cluster.ServerTask, 0))-1]):
					servers++
				default:
					workers++
				}
			}
			for n := range servers {
				box("ps", left+rackWidth-16-(n+1)*26, top+6, 22, 14)
			}
			used := int(fleet[i].Running[0].GPU)
			for n := range int(fleet[i].Capacity.GPU) {
				class := "free"
				switch {
				case n < used:
					class = "other"
				case n < used+workers:
					class = "worker"
				}
				box(class, left+15+n*22, top+27, cell, cell)
			}
		}
		text("small", x, 262, word["sends"])
		for row, bytes := range []float64{p.nodes, p.racks} {
			y := 270 + row*26
			text("", x, y+15, word[[]string{"nodes", "racks"}[row]])
			if bytes == 0 {
				text("", x+110, y+15, word["none"])
				continue
			}
			width := int(220 * bytes / most)
			box("bytes", x+110, y+3, width, 16)
			text("head", x+118+width, y+16, fmt.Sprintf("%.3g GiB", bytes))
		}
	}
	for i, class := range []string{"ps", "worker", "other", "free"} {
		x := 10 + i*190
		box(class, x, 344, 20, 16)
		text("small", x+28, 357, word[class])
	}
	write("</svg>")
	return svg.String()
}

// The picture at the top of README.md is what Volcano's scheduler does, with its default plugins and with the plugin paddle.
func TestPictureOfReadme(t *testing.T) {
	framework.RegisterPluginBuilder(firstName, func(framework.Arguments) framework.Plugin { return first{} })
	fleet, job := pictured()
	stock, paddle := take(t, cluster.Stock(), fleet, &job), take(t, cluster.Paddle(nil), fleet, &job)
	t.Logf("stock: %+v\npaddle: %+v", stock, paddle)
	require.Less(t, paddle.nodes, stock.nodes)
	require.Less(t, paddle.racks, stock.racks)
	for language, word := range words {
		file := "../../../deploy/docs/" + language + "images/before-after.svg"
		svg := draw(word, fleet, &job, stock, paddle)
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(svg), 0o600))
		}
		drawn, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, svg, string(drawn), "go test ./test/session/quality -run TestPictureOfReadme -update")
	}
}
