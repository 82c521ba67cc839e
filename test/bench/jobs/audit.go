// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// controllerUser is what the API server knows the controller by (deploy/v1/operator.yaml).
const controllerUser = "system:serviceaccount:paddle-system:paddle-controller-manager"

// auditPolicy has the API server write down what the controller writes, and nothing else.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  users: ["` + controllerUser + `"]
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`

// auditing are the API server's arguments, and the path of the log.
func auditing(folder string) (args []string, log string, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, "", fmt.Errorf("make the folder of the audit log: %w", err)
	}
	policy, log := filepath.Join(folder, "audit-policy.yaml"), filepath.Join(folder, "audit.log")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o644); err != nil {
		return nil, "", fmt.Errorf("write the audit policy: %w", err)
	}
	if err := os.RemoveAll(log); err != nil {
		return nil, "", fmt.Errorf("remove an earlier audit log: %w", err)
	}
	return []string{"--audit-policy-file=" + policy, "--audit-log-path=" + log}, log, nil
}

// Writes are how often the controller wrote, by verb and resource, such as "update paddlejobs/status". Refused ones count
// too.
type Writes map[string]int

// entry is what is read of an entry of the log (k8s.io/apiserver/pkg/apis/audit/v1, Event).
type entry struct {
	Stage string `json:"stage"`
	Verb  string `json:"verb"`
	User  struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef *struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
}

// count reads an audit log.
func count(log string) (writes Writes, events int, err error) {
	file, err := os.Open(log)
	if err != nil {
		return nil, 0, fmt.Errorf("read the audit log: %w", err)
	}
	defer func() { _ = file.Close() }()
	writes = Writes{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, 0, fmt.Errorf("read the audit log %s: %w", log, err)
		}
		if e.Stage != "ResponseComplete" || e.User.Username != controllerUser || e.ObjectRef == nil {
			continue
		}
		switch resource := e.ObjectRef.Resource; resource {
		case "events":
			events++
		case "leases": // leader election's
		default:
			if e.ObjectRef.Subresource != "" {
				resource += "/" + e.ObjectRef.Subresource
			}
			writes[e.Verb+" "+resource]++
		}
	}
	if err := lines.Err(); err != nil {
		return nil, 0, fmt.Errorf("read the audit log %s: %w", log, err)
	}
	return writes, events, nil
}

func (w Writes) sum() (sum int) {
	for _, n := range w {
		sum += n
	}
	return sum
}
