// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// cycleMetric counts one observation for each scheduling cycle that has ended.
const cycleMetric = "volcano_e2e_scheduling_latency_milliseconds_count"

// cycles is how many scheduling cycles the scheduler has ended since it started.
func (p *plane) cycles(ctx context.Context) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.metrics+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), cycleMetric+" "); found {
			return strconv.Atoi(value)
		}
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("the scheduler has no metric %s", cycleMetric)
}

// awaitCycles waits until the scheduler has begun and ended so many more cycles.
func (p *plane) awaitCycles(t *testing.T, more int) {
	t.Helper()
	start, err := p.cycles(t.Context())
	require.NoError(t, err)
	await(t, fmt.Sprintf("%d scheduling cycles", more), func(ctx context.Context) error {
		now, err := p.cycles(ctx)
		if err != nil {
			return err
		}
		// The one that ran at the start does not count as whole.
		if now <= start+more {
			return fmt.Errorf("%d have ended", now-start)
		}
		return nil
	})
}
