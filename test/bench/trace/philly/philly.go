// SPDX-License-Identifier: Apache-2.0

// Package philly holds the jobs of a public trace and their reader; README.md says where they come from. What is made of
// them is not decided here.
package philly

import (
	_ "embed" // the data
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

//go:embed philly_11cb48.csv
var data string

// Row is one job of the trace.
type Row struct {
	GPUs int
	// Model is its name without the batch size.
	Model string
	// Duration in seconds if nothing slows the job down, and how long each synchronous step of it takes.
	Duration, Step float64
}

var columns = []string{"arrival_s", "gpus", "model", "steps", "duration_s"}

// Rows are all jobs of the trace, in its order.
func Rows() []Row {
	rows, err := Read(strings.NewReader(data))
	if err != nil {
		panic(fmt.Sprintf("the embedded trace is broken: %v", err)) // a test reads it
	}
	return rows
}

// Read takes a file of this format. Errors say the line.
func Read(r io.Reader) ([]Row, error) {
	lines := csv.NewReader(r)
	header, err := lines.Read()
	if err != nil {
		return nil, fmt.Errorf("read a trace: its first line, which names the columns: %w", err)
	}
	if !slices.Equal(header, columns) {
		return nil, fmt.Errorf("read a trace: its first line is %q, want %q", header, columns)
	}
	all, err := lines.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read a trace: %w", err)
	}
	rows := make([]Row, len(all))
	for i, fields := range all {
		if rows[i], err = row(fields); err != nil {
			return nil, fmt.Errorf("read a trace: line %d: %w", i+2, err)
		}
	}
	return rows, nil
}

func row(fields []string) (Row, error) {
	var numbers [3]int
	for i, column := range []int{1, 3, 4} {
		n, err := strconv.Atoi(fields[column])
		if err != nil || n <= 0 {
			return Row{}, fmt.Errorf("%s is %q, want a whole number above 0", columns[column], fields[column])
		}
		numbers[i] = n
	}
	gpus, steps, seconds := numbers[0], float64(numbers[1]), float64(numbers[2])
	model, _, _ := strings.Cut(fields[2], " (")
	return Row{GPUs: gpus, Model: model, Duration: seconds, Step: float64(gpus) * seconds / steps}, nil
}
