// SPDX-License-Identifier: Apache-2.0

package lingjun

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

var columns = []string{"host", "dsw", "psw", "asw"}

// Read makes a topology of rows of host, dsw (core), psw (aggregation) and asw (top of rack), below a line that names
// these columns. An asw belongs to its psw: equal names below two psw are two racks. Errors say the line.
func Read(r io.Reader) (placement.TopologySpec, error) {
	spec := placement.TopologySpec{Resources: Resources(), Accelerators: []string{"nvidia.com/gpu"}, Tiers: Tiers()}
	rows := csv.NewReader(r)
	rows.FieldsPerRecord = -1
	header, err := rows.Read()
	if err != nil {
		return spec, fmt.Errorf("read a topology: its first line, which names the columns: %w", err)
	}
	if !slices.Equal(header, columns) {
		return spec, fmt.Errorf("read a topology: its first line is %q, want %q", header, columns)
	}
	lines := map[string]int{}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return spec, fmt.Errorf("read a topology: %w", err)
		}
		line, _ := rows.FieldPos(0)
		if err := checkRow(row); err != nil {
			return spec, fmt.Errorf("read a topology: line %d: %w", line, err)
		}
		host := row[0]
		if first := lines[host]; first > 0 {
			return spec, fmt.Errorf("read a topology: line %d: host %q is in line %d already", line, host, first)
		}
		lines[host] = line
		spec.Nodes = append(spec.Nodes, placement.NodeSpec{
			Name:    host,
			Domains: []string{row[3], row[2], row[1]},
			Free:    []int64{MilliCPUs, MemoryBytes, Pods, GPUs},
			Islands: []placement.Island{{Size: GPUs, Free: GPUs}},
		})
	}
	if len(spec.Nodes) == 0 {
		return spec, errors.New("read a topology: no host below its first line")
	}
	return spec, nil
}

func checkRow(row []string) error {
	if len(row) != len(columns) {
		return fmt.Errorf("%d values, want one for each of %q", len(row), columns)
	}
	for i, value := range row {
		switch {
		case strings.TrimSpace(value) != value:
			return fmt.Errorf("%s %q begins or ends with a space", columns[i], value)
		case value == "":
			return fmt.Errorf("%s is empty", columns[i])
		case strings.Contains(value, "/"):
			return fmt.Errorf("%s %q has a \"/\", which separates the parts of a path", columns[i], value)
		}
	}
	return nil
}
