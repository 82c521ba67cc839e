// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every reason that a user may read, of the controller's conditions and events and of the plugin's, is explained.
func TestEveryReasonIsExplained(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "cmd/kubectl-paddle/TROUBLESHOOTING.md"))
	require.NoError(t, err)
	// What says that all is well, or is only a word between the controller and itself.
	fine := map[string]bool{"EnvironmentReady": true, "Created": true, "Placed": true, "Retrying": true}
	found := 0
	for file, pattern := range map[string]string{
		"controller/render/reasons.go":    `Reason\w+ += "(\w+)"`,
		"controller/policy/reasons.go":    `Reason\w+ += "(\w+)"`,
		"controller/policy/ports.go":      `Reason\w+ += "(\w+)"`,
		"controller/reconcile/undone.go":  `Reason\w+ += "(\w+)"`,
		"controller/view/startup.go":      `Reason\w+ += "(\w+)"`,
		"controller/status/scheduled.go":  `Reason\w+ += "(\w+)"`,
		"plugins/paddle/report/reason.go": `\w+ +Reason = "(\w+)"`,
	} {
		source, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		for _, match := range regexp.MustCompile(pattern).FindAllSubmatch(source, -1) {
			found++
			if reason := string(match[1]); !fine[reason] {
				require.Contains(t, string(text), "`"+reason+"`", file)
			}
		}
	}
	require.Greater(t, found, 70)
}
