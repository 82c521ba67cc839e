// SPDX-License-Identifier: Apache-2.0

package philly

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheTraceIsWhatItsReadmeSays(t *testing.T) {
	rows := Rows()
	require.Len(t, rows, 2000)
	single, most := 0, 0
	before := 0.0
	for _, row := range rows {
		require.GreaterOrEqual(t, row.Arrival, before)
		before = row.Arrival
		if row.GPUs == 1 {
			single++
		}
		most = max(most, row.GPUs)
		require.Positive(t, row.Duration)
		require.LessOrEqual(t, row.Step, row.Duration)
	}
	require.Equal(t, 1559, single)
	require.Equal(t, 64, most)
	require.Equal(t, "Transformer", rows[0].Model)
	require.InDelta(t, 0.1836, rows[0].Step, 1e-4)
}

// Four workers do four minibatches in a step: 100 steps of the file are 25 of the job.
func TestAStepIsOneMinibatchOfEachWorker(t *testing.T) {
	require.Equal(t, Row{Arrival: 7, GPUs: 4, Model: "LM", Duration: 50, Step: 2}, row([]string{"7", "4", "LM (batch size 5)", "100", "50"}))
}
