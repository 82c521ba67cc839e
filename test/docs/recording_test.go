// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/docs"
)

// recorded is the page whose commands and output the recording shows; the test of its commands compares them with a sandbox.
const recorded = "deploy/docs/get-started.md"

// scenes are the commands of the recording by what begins each, and what a scene is called.
var scenes = []struct {
	commands         []string
	english, chinese string
}{
	{[]string{"kubectl paddle submit -f job.yaml", "kubectl paddle get"}, "Submit a job", "提交作业"},
	{[]string{"kubectl paddle submit -f test/demo/too_large.yaml", "kubectl paddle why too-large"}, "Find out why a job waits", "查明作业为何等待"},
	{[]string{"kubectl scale pdj too-large --replicas 3", "kubectl paddle why too-large"}, "Follow a suggestion", "按建议去做"},
	{[]string{"kubectl paddle map"}, "Draw the cluster", "画出集群"},
}

const (
	columns     = 112
	sceneTime   = 7 // seconds
	lineHeight  = 17
	recordWidth = 860
)

// wrapped returns a line in parts that the terminal of the recording can show.
func wrapped(line string) (parts []string) {
	for len(line) > columns {
		cut := strings.LastIndex(line[:columns], " ")
		parts, line = append(parts, line[:cut]), "    "+line[cut+1:]
	}
	return append(parts, line)
}

// recording returns an animated picture of the scenes, one after the other.
func recording(t *testing.T, steps []docs.Step, title string, captions []string) string {
	t.Helper()
	var body strings.Builder
	next, highest := 0, 0
	for i, scene := range scenes {
		var lines []string
		for _, command := range scene.commands {
			for ; next < len(steps) && steps[next].Command != command; next++ {
			}
			require.Less(t, next, len(steps), "%s has no command %q where the recording expects it", recorded, command)
			lines = append(lines, "$ "+command)
			for _, line := range steps[next].Want {
				lines = append(lines, wrapped(line)...)
			}
			next++
		}
		highest = max(highest, len(lines))
		fmt.Fprintf(&body, "  <g class=\"scene\" style=\"animation-delay:%ds\">\n    <text class=\"caption\" x=\"846\" y=\"22\" text-anchor=\"end\">%d/%d %s</text>\n", i*sceneTime, i+1, len(scenes), captions[i])
		for row, line := range lines {
			class := "out"
			if strings.HasPrefix(line, "$ ") {
				class = "in"
			}
			if strings.TrimSpace(line) == "" {
				continue
			}
			var text strings.Builder
			require.NoError(t, xml.EscapeText(&text, []byte(line)))
			fmt.Fprintf(&body, "    <text class=\"%s\" x=\"16\" y=\"%d\" xml:space=\"preserve\">%s</text>\n", class, 52+row*lineHeight, text.String())
		}
		body.WriteString("  </g>\n")
	}
	whole, shown := len(scenes)*sceneTime, 100/float64(len(scenes))
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="t">
  <title id="t">%[3]s</title>
  <style>
    text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #c9d1d9 }
    .caption { font: 600 13px system-ui, sans-serif; fill: #8b949e }
    .in { fill: #79c0ff }
    .scene { opacity: 0; animation: scene %[4]ds infinite }
    .scene:first-of-type { opacity: 1 }
    @media (prefers-reduced-motion: reduce) { .scene { animation: none } }
    @keyframes scene { 0%% { opacity: 0 } 1%% { opacity: 1 } %.4[5]g%% { opacity: 1 } %.4[6]g%% { opacity: 0 } 100%% { opacity: 0 } }
  </style>
  <rect width="%[1]d" height="%[2]d" rx="8" fill="#0d1117"/>
  <circle cx="20" cy="18" r="5" fill="#ff5f56"/><circle cx="38" cy="18" r="5" fill="#ffbd2e"/><circle cx="56" cy="18" r="5" fill="#27c93f"/>
`, recordWidth, 64+highest*lineHeight, title, whole, shown-0.5, shown)
	return head + body.String() + "</svg>\n"
}

func TestWrapped(t *testing.T) {
	require.Equal(t, []string{"short"}, wrapped("short"))
	require.Equal(t, []string{strings.Repeat("x", 100), "    " + strings.Repeat("y", 20)}, wrapped(strings.Repeat("x", 100)+" "+strings.Repeat("y", 20)))
}

// The recording shows what the first page of the documents shows, which is compared with what a sandbox prints.
func TestRecordingIsOfGetStarted(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, recorded))
	require.NoError(t, err)
	var steps []docs.Step
	for _, block := range docs.Parse(recorded, string(text)).Blocks {
		if block.Run() {
			steps = append(steps, block.Steps()...)
		}
	}
	var english, chinese []string
	for _, scene := range scenes {
		english, chinese = append(english, scene.english), append(chinese, scene.chinese)
	}
	for language, svg := range map[string]string{
		"":    recording(t, steps, "kubectl paddle: submit a job, find out why another one waits, scale it, and draw the cluster", english),
		"zh/": recording(t, steps, "kubectl paddle：提交作业，查明另一个作业为何等待，扩缩它，并画出集群", chinese),
	} {
		file := filepath.Join(root, "deploy/docs", language+"images/session.svg")
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(svg), 0o600))
		}
		drawn, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, svg, string(drawn), "go test ./test/docs -run TestRecordingIsOfGetStarted -update")
	}
}
