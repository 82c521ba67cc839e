// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"bufio"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// metrics reads what the scheduler serves: value by name and labels.
func (p *plane) metrics(t *testing.T) map[string]float64 {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.Address(sandbox.Scheduler)+"/metrics", http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close() //nolint:errcheck // it was only read
	require.Equal(t, http.StatusOK, response.StatusCode)
	values := map[string]float64{}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		at := strings.LastIndexByte(lines.Text(), ' ')
		if at < 0 || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		values[lines.Text()[:at]], err = strconv.ParseFloat(lines.Text()[at+1:], 64)
		require.NoError(t, err, lines.Text())
	}
	require.NoError(t, lines.Err())
	return values
}
