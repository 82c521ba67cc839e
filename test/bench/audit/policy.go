// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"fmt"
	"os"
	"path/filepath"
)

// neverTurned is more megabytes than a log will have: the API server begins a new file at 100 by itself.
const neverTurned = "1000000"

// Prepare writes a policy (audit.k8s.io/v1) into a folder, and returns the API server's arguments for it and the path of
// the log, of which an earlier one is removed.
func Prepare(folder, policy string) (args []string, log string, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, "", fmt.Errorf("make the folder of the audit log: %w", err)
	}
	file, log := filepath.Join(folder, "audit-policy.yaml"), filepath.Join(folder, "audit.log")
	if err := os.WriteFile(file, []byte(policy), 0o644); err != nil {
		return nil, "", fmt.Errorf("write the audit policy: %w", err)
	}
	if err := os.RemoveAll(log); err != nil {
		return nil, "", fmt.Errorf("remove an earlier audit log: %w", err)
	}
	return []string{"--audit-policy-file=" + file, "--audit-log-path=" + log, "--audit-log-maxsize=" + neverTurned}, log, nil
}
