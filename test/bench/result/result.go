// SPDX-License-Identifier: Apache-2.0

// Package result writes the reports of benchmarks and their progress, and describes the machine that they were measured on.
package result

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// Machine is what was measured on.
type Machine struct {
	Go        string `json:"go"`
	OS        string `json:"os"`
	CPUs      int    `json:"cpus"`
	Processor string `json:"processor,omitempty"`
	Volcano   string `json:"volcano,omitempty"`
}

// ThisMachine is the one that this runs on.
func ThisMachine() Machine {
	m := Machine{Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Processor: processor()}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if module.Path == "volcano.sh/volcano" {
				m.Volcano = module.Version
			}
		}
	}
	return m
}

// processor is the processor's name, empty where Linux does not have it.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Processor is the time that this process has had of processors: other programs disturb it less than the clock.
func Processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it only fails for wrong arguments
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Say prints a line of progress for people. That a screen takes no more is no reason to stop measuring.
func Say(progress io.Writer, format string, values ...any) {
	_, _ = fmt.Fprintf(progress, format+"\n", values...)
}

// Write writes a report as JSON into a folder, which it creates. An earlier file is replaced whole or not at all.
func Write(folder, file string, report any) error {
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // results are for everybody to read
		return fmt.Errorf("write the report: %w", err)
	}
	unfinished := filepath.Join(folder, "."+file+".unfinished")
	if err := os.WriteFile(unfinished, append(text, '\n'), 0o644); err != nil { //nolint:gosec // results are for everybody to read
		return fmt.Errorf("write the report: %w", err)
	}
	if err := os.Rename(unfinished, filepath.Join(folder, file)); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
