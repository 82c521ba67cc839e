// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

func TestReaderReadsOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	file, err := os.Create(path)
	require.NoError(t, err)
	write := func(text string) {
		_, err := file.WriteString(text)
		require.NoError(t, err)
	}
	var seen []string
	r, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	next := func() []string {
		seen = nil
		require.NoError(t, r.Each(func(e *auditv1.Event) { seen = append(seen, What(e)) }))
		return seen
	}
	require.Empty(t, next())
	write(`{"stage":"ResponseStarted","verb":"watch","objectRef":{"resource":"pods"}}` + "\n")
	write(`{"stage":"ResponseComplete","verb":"create","objectRef":{"resource":"pods","subresource":"binding"}}` + "\n" + `{"stage":"Resp`)
	require.Equal(t, []string{"create pods/binding"}, next())
	require.Empty(t, next())
	write(`onseComplete","verb":"get"}` + "\n")
	require.Equal(t, []string{""}, next())

	write("}\n")
	require.ErrorContains(t, r.Each(func(*auditv1.Event) {}), path)
	_, err = Open(path + ".none")
	require.ErrorContains(t, err, "read the audit log")
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for code, want := range map[int32]bool{200: false, 201: false, 409: true, 500: true} {
		require.Equal(t, want, Refused(&auditv1.Event{ResponseStatus: &metav1.Status{Code: code}}), code)
	}
	require.True(t, Refused(&auditv1.Event{}))
}

func TestPrepareRemovesAnEarlierLog(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new")
	_, log, err := Prepare(folder, "kind: Policy\n")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(log, []byte("old\n"), 0o600))
	args, log, err := Prepare(folder, "kind: Policy\n")
	require.NoError(t, err)
	require.NoFileExists(t, log)
	require.Contains(t, args, "--audit-log-path="+log)
	require.FileExists(t, filepath.Join(folder, "audit-policy.yaml"))
}
