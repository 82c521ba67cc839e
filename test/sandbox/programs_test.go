// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/programs"
)

func TestWhatIsBuilt(t *testing.T) {
	tests := map[string]struct {
		options Options
		with    []programs.Program
		without []programs.Program
	}{
		"all programs":       {with: []programs.Program{programScheduler, programController}, without: []programs.Program{programStock}},
		"stock scheduler":    {options: Options{StockScheduler: true}, with: []programs.Program{programStock, programController}, without: []programs.Program{programScheduler}},
		"without controller": {options: Options{WithoutController: true}, with: []programs.Program{programScheduler}, without: []programs.Program{programController}},
		"rivals":             {options: Options{Rivals: true}, with: []programs.Program{programScheduler, programStock, programKubeSched}},
		"rivals of stock":    {options: Options{Rivals: true, StockScheduler: true}, with: []programs.Program{programStock, programKubeSched}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := test.options.programs()
			require.Subset(t, got, append(test.with, programEtcd, programAPIServer, programKCM, programVolcanoCM, programWebhooks, programKwok))
			names := map[string]bool{}
			for _, item := range got {
				require.False(t, names[item.Name], "%s is built twice", item.Name)
				names[item.Name] = true
			}
			for _, item := range test.without {
				require.NotContains(t, got, item)
			}
		})
	}
}
