// SPDX-License-Identifier: Apache-2.0

package live

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Metrics are what a component serves to Prometheus now: values by name and labels, as they are written there. Scheduler,
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
