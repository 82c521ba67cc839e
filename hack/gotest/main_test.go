// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// listed writes a list of what may be skipped.
func listed(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "skips")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return path
}

const (
	partSkipped  = "hack/gotest/testdata/skips TestSkips/a_part skips_test.go:10: no such machine"
	nothingRan   = "hack/gotest/testdata/empty * ran no test: nothing is possible here"
	listsPart    = "hack/gotest/testdata/skips TestSkips/a_part because"
	listsPackage = "hack/gotest/testdata/skips * because"
	listsEmpty   = "hack/gotest/testdata/empty * because"
)

func TestRun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		packages []string
		list     string
		printed  []string
		err      string
	}{
		"all tests run":                      {packages: []string{"passes", "none"}, list: listed(t), printed: []string{"ok  \t", "testdata/passes\t", "no test files"}},
		"a skip without a list":              {packages: []string{"skips"}, printed: []string{"skipped:\n  " + partSkipped}},
		"a skip that is not listed":          {packages: []string{"passes", "skips"}, list: listed(t, listsEmpty), printed: []string{partSkipped}, err: "1 tests or packages were skipped"},
		"another test is listed":             {packages: []string{"skips"}, list: listed(t, "hack/gotest/testdata/skips TestSkips because"), printed: []string{partSkipped}, err: "1 tests"},
		"a skip that is listed":              {packages: []string{"skips"}, list: listed(t, "# why", "", listsPart), printed: []string{partSkipped}},
		"its package is listed":              {packages: []string{"skips"}, list: listed(t, listsPackage), printed: []string{partSkipped}},
		"a package without a run":            {packages: []string{"empty"}, list: listed(t, listsPart), printed: []string{nothingRan}, err: "1 tests or packages"},
		"a package without a run, listed":    {packages: []string{"empty"}, list: listed(t, listsEmpty), printed: []string{nothingRan}},
		"a failure":                          {packages: []string{"fails"}, printed: []string{"the reason", "--- FAIL: TestFails/part", "the panic", "FAIL\t"}, err: "go test: exit status 1"},
		"no such package":                    {packages: []string{"nowhere"}, err: "go test: exit status 1"},
		"a list without reasons":             {packages: []string{"passes"}, list: listed(t, "test/real *"), err: `skips:1: "test/real *" is not a folder, a test's name or *, and a reason`},
		"a list that does not exist":         {packages: []string{"passes"}, list: "nowhere", err: "read the list of SKIPS: open nowhere"},
		"everything is printed if -v is set": {packages: []string{"passes", "-v"}, printed: []string{"not printed", "--- PASS: TestPasses"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"-count=1"}
			for _, p := range test.packages {
				if !strings.HasPrefix(p, "-") {
					p = "./testdata/" + p
				}
				args = append(args, p)
			}
			var out strings.Builder
			err := run(args, test.list, &out)
			if test.err == "" {
				require.NoError(t, err, out.String())
			} else {
				require.ErrorContains(t, err, test.err, out.String())
			}
			for _, text := range test.printed {
				require.Contains(t, out.String(), text)
			}
			if name != "everything is printed if -v is set" {
				require.NotContains(t, out.String(), "not printed")
			}
		})
	}
}

// TestMake runs what .ci/run does: `make test` with SKIPS.
func TestMake(t *testing.T) {
	t.Parallel()
	test := func(list string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "make", "-C", "../..", "--old-file=plane", "test", "TEST_FLAGS=", "TEST_PACKAGES=./hack/gotest/testdata/skips ./hack/gotest/testdata/empty")
		cmd.Env = append(os.Environ(), "SKIPS="+list)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := test(listed(t))
	require.Error(t, err, out)
	require.Contains(t, out, partSkipped)
	require.Contains(t, out, nothingRan)
	out, err = test(listed(t, listsPart, listsEmpty))
	require.NoError(t, err, out)
}

// TestListOfCI reads the list that .ci/run uses: each line names a script, or a test that is there.
func TestListOfCI(t *testing.T) {
	t.Parallel()
	allowed, err := readList("../../.ci/skips")
	require.NoError(t, err)
	for _, a := range allowed {
		if a.test == "*" {
			require.FileExists(t, filepath.Join("../..", a.folder))
			continue
		}
		name, _, _ := strings.Cut(a.test, "/") // of a subtest, the test is looked for
		files, err := filepath.Glob(filepath.Join("../..", a.folder, "*_test.go"))
		require.NoError(t, err)
		require.True(t, slices.ContainsFunc(files, func(file string) bool {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			return strings.Contains(string(text), "func "+name+"(")
		}), "%s has no test %s", a.folder, a.test)
	}
}

func TestVulnerabilitiesWithoutADatabase(t *testing.T) {
	t.Parallel()
	verify := func(env ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "../verify-vulnerabilities.sh")
		cmd.Env = append(os.Environ(), append(env, "GOVULNDB=http://127.0.0.1:1")...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := verify("SKIPS=")
	require.NoError(t, err, out)
	require.Contains(t, out, "SKIP: ")
	out, err = verify("SKIPS=" + listed(t, listsEmpty))
	require.Error(t, err, out)
	require.Contains(t, out, "is not listed in")
	out, err = verify("SKIPS=" + listed(t, "hack/verify-vulnerabilities.sh * because"))
	require.NoError(t, err, out)
}
