// SPDX-License-Identifier: Apache-2.0

// Package philly holds the jobs of a public trace; README.md says where they come from. What is made of
// them is not decided here.
package philly

import (
	_ "embed" // the data
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

//go:embed philly_11cb48.csv
var data string

// Row is one job of the trace.
type Row struct {
	// Arrival in seconds since the first job.
	Arrival float64
	GPUs    int
	// Model is its name without the batch size.
	Model string
	// Duration in seconds if nothing slows the job down, and how long each synchronous step of it takes.
	Duration, Step float64
}

// Rows returns all jobs of the trace, in its order.
func Rows() []Row {
	lines, err := csv.NewReader(strings.NewReader(data)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("the embedded trace is broken: %v", err)) // a test reads it
	}
	var rows []Row
	for _, fields := range lines[1:] { // arrival_s, gpus, model, steps, duration_s
		rows = append(rows, row(fields))
	}
	return rows
}

// row returns one job. Each of its workers does one minibatch in a step, and the file counts minibatches.
func row(fields []string) Row {
	number := func(column int) float64 {
		n, err := strconv.ParseFloat(fields[column], 64)
		if err != nil {
			panic(fmt.Sprintf("the embedded trace is broken: %v in %q", err, fields))
		}
		return n
	}
	arrival, gpus, steps, seconds := number(0), number(1), number(3), number(4)
	model, _, _ := strings.Cut(fields[2], " (")
	return Row{Arrival: arrival, GPUs: int(gpus), Model: model, Duration: seconds, Step: gpus * seconds / steps}
}
