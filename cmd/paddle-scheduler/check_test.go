// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle"
)

func TestCheckConfig(t *testing.T) {
	framework.RegisterPluginBuilder(paddle.PluginName, paddle.New)
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	noPlugin := write("plugin.so", "no plugin")
	const sound = "actions: allocate\ntiers:\n- plugins:\n  - name: paddle\n  - name: gang\n"
	for name, test := range map[string]struct {
		file, pluginsDir string
		code             int
		out, errs        string
	}{
		"shipped":                    {"../../deploy/v1/scheduler.yaml", "", 0, "0 errors, 0 warnings", ""},
		"warning":                    {write("warning", sound+"  - name: gang\n"), "", 0, "0 errors, 1 warnings", ""},
		"error":                      {write("error", sound+"  - name: gangs\n"), "", 1, `error: tiers[0].plugins[2].name: Not found: "gangs"`, ""},
		"no file":                    {filepath.Join(folder, "missing"), "", 1, "", "error: read the configuration: open " + folder + "/missing: no such file or directory"},
		"a folder":                   {folder, "", 1, "", "is a directory"},
		"no plugin in --plugins-dir": {write("sound", sound), filepath.Dir(noPlugin), 1, "", "error: load the plugins of --plugins-dir:"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs strings.Builder
			require.Equal(t, test.code, check(test.file, test.pluginsDir, &out, &errs))
			require.Contains(t, out.String(), test.out)
			require.Contains(t, errs.String(), test.errs)
			require.Equal(t, test.errs == "", errs.String() == "")
		})
	}
}
