// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteTable writes one row per job and role, and below it why jobs are pending.
func WriteTable(out io.Writer, stories []*Story, nodes map[string]Node, now time.Duration) error {
	lines := []string{"JOB\tMODE\tPHASE\tTIME\tROLE\tWHERE"}
	for _, story := range stories {
		head := []string{story.Job.Name, dash(story.Status.Mode), dash(story.Status.Phase), story.took(now)}
		for _, role := range story.Job.Roles {
			cells := append(slices.Clone(head), role.Name, where(story.PodsOf(role.Name), nodes))
			lines = append(lines, strings.Join(cells, "\t"))
			head = []string{"", "", "", ""}
		}
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(table, strings.Join(lines, "\n")); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	for _, story := range stories {
		if story.Ended == 0 && story.Status.Reason != "" {
			if _, err := fmt.Fprintf(out, "\n%s is %s: %s\n", story.Job.Name, story.Status.Phase, story.Status.Reason); err != nil {
				return fmt.Errorf("write a reason: %w", err)
			}
		}
	}
	return nil
}

func (s *Story) took(now time.Duration) string {
	if s.Ended == 0 {
		return fmt.Sprintf("%.1fs so far", (now - s.Submitted).Seconds())
	}
	return fmt.Sprintf("%.1fs", (s.Ended - s.Submitted).Seconds())
}

// where says on which nodes the pods are, rack by rack: "rack-0: node-1 x2, node-3".
func where(pods []Pod, nodes map[string]Node) string {
	perNode := map[string]int{}
	perRack := map[string][]string{}
	var racks []string
	for _, pod := range pods {
		if pod.Node == "" {
			continue
		}
		perNode[pod.Node]++
		if perNode[pod.Node] > 1 {
			continue
		}
		rack := nodes[pod.Node].Rack
		if _, known := perRack[rack]; !known {
			racks = append(racks, rack)
		}
		perRack[rack] = append(perRack[rack], pod.Node)
	}
	slices.Sort(racks)
	parts := make([]string, 0, len(racks))
	for _, rack := range racks {
		slices.Sort(perRack[rack])
		names := make([]string, 0, len(perRack[rack]))
		for _, node := range perRack[rack] {
			names = append(names, times(strings.TrimPrefix(node, rack+"-"), perNode[node]))
		}
		parts = append(parts, dash(rack)+": "+strings.Join(names, ", "))
	}
	return dash(strings.Join(parts, "; "))
}

func times(node string, pods int) string {
	if pods == 1 {
		return node
	}
	return fmt.Sprintf("%s x%d", node, pods)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
