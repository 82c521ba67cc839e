// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// Reader reads a log, and reads on when there is more.
type Reader struct {
	file  *os.File
	lines *bufio.Reader
	// part is the beginning of a line whose end is not written yet.
	part []byte
}

// Open begins at the log's first line.
func Open(log string) (*Reader, error) {
	file, err := os.Open(log)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return &Reader{file: file, lines: bufio.NewReaderSize(file, 1<<20)}, nil
}

// Close ends reading.
func (r *Reader) Close() error { return r.file.Close() }

// Each hands over every entry since the last call whose line is whole and whose request has been answered.
func (r *Reader) Each(see func(*auditv1.Event)) error {
	for {
		piece, err := r.lines.ReadBytes('\n')
		r.part = append(r.part, piece...)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the audit log: %w", err)
		}
		entry := &auditv1.Event{}
		if err := json.Unmarshal(r.part, entry); err != nil {
			return fmt.Errorf("read the audit log %s: %w", r.file.Name(), err)
		}
		r.part = nil // the entry's raw request body may refer to it
		if entry.Stage == auditv1.StageResponseComplete {
			see(entry)
		}
	}
}

// What returns the verb and the resource of an entry, such as "update paddlejobs/status"; empty where no resource was asked for.
func What(e *auditv1.Event) string {
	if e.ObjectRef == nil {
		return ""
	}
	what := e.Verb + " " + e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		what += "/" + e.ObjectRef.Subresource
	}
	return what
}

// Refused reports whether the request failed.
func Refused(e *auditv1.Event) bool { return e.ResponseStatus == nil || e.ResponseStatus.Code >= 300 }

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
