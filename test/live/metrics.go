// SPDX-License-Identifier: Apache-2.0

package live

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// Metrics returns what a component serves to Prometheus now: values by name and labels, as they are written there. Scheduler,
// VolcanoController and Controller serve some.
func (p *Plane) Metrics(ctx context.Context, component string) (map[string]float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Address(component)+"/metrics", http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask %s for its metrics: %w", component, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask %s for its metrics: %w", component, err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask %s for its metrics: it answers %s", component, response.Status)
	}
	values, err := ParseMetrics(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the metrics of %s: %w", component, err)
	}
	return values, nil
}

// ParseMetrics reads what Prometheus would collect.
func ParseMetrics(text io.Reader) (map[string]float64, error) {
	values := map[string]float64{}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		at := strings.LastIndexByte(lines.Text(), ' ')
		if at < 0 || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		value, err := strconv.ParseFloat(lines.Text()[at+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		values[lines.Text()[:at]] = value
	}
	return values, lines.Err()
}

// cycleMetric counts the finished scheduling cycles.
const cycleMetric = "volcano_e2e_scheduling_latency_milliseconds_count"

// Cycles returns how many scheduling cycles the scheduler has finished since it started.
func (p *Plane) Cycles(ctx context.Context) (int, error) {
	values, err := p.Metrics(ctx, sandbox.Scheduler)
	if err != nil {
		return 0, err
	}
	count, found := values[cycleMetric]
	if !found {
		return 0, fmt.Errorf("the scheduler has no metric %s", cycleMetric)
	}
	return int(count), nil
}

// UntilCycles waits until the scheduler has begun and finished this many more cycles.
func (p *Plane) UntilCycles(ctx context.Context, more int) error {
	start, err := p.Cycles(ctx)
	if err != nil {
		return err
	}
	return p.Until(ctx, fmt.Sprintf("%d scheduling cycles", more), func(ctx context.Context) error {
		now, err := p.Cycles(ctx)
		// The cycle that ran at the start does not count as whole.
		if err == nil && now <= start+more {
			err = fmt.Errorf("%d have finished", now-start)
		}
		return err
	})
}

// AwaitCycles is UntilCycles for a test.
func (p *Plane) AwaitCycles(t testing.TB, more int) {
	t.Helper()
	if err := p.UntilCycles(t.Context(), more); err != nil {
		t.Fatal(err)
	}
}

// Memory returns what a component has in memory now, and the most that it ever had, in MiB (proc(5), VmRSS and VmHWM).
func (p *Plane) Memory(component string) (now, most float64, err error) {
	for _, c := range sandbox.ComponentStatuses(p.StateDir()) {
		if c.Name != component {
			continue
		}
		text, err := os.ReadFile("/proc/" + c.Process + "/status")
		if err != nil {
			return 0, 0, fmt.Errorf("read the memory of %s: %w", component, err)
		}
		if now, most, err = parseMemory(string(text)); err != nil {
			return 0, 0, fmt.Errorf("read the memory of %s: %w", component, err)
		}
		return now, most, nil
	}
	return 0, 0, fmt.Errorf("read the memory of %s: the sandbox runs none", component)
}

func parseMemory(status string) (now, most float64, err error) {
	for line, into := range map[string]*float64{"VmRSS": &now, "VmHWM": &most} {
		found := regexp.MustCompile(`(?m)^` + line + `:\s+(\d+) kB$`).FindStringSubmatch(status)
		if found == nil {
			return 0, 0, fmt.Errorf("its status has no %s", line)
		}
		kib, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			return 0, 0, fmt.Errorf("its %s: %w", line, err)
		}
		*into = kib / 1024
	}
	return now, most, nil
}
