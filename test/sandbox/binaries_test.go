// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// helloModule creates a Go module of one small program, and a builder of it.
func helloModule(t *testing.T, out io.Writer) (*builder, build) {
	t.Helper()
	root := t.TempDir()
	b := &builder{root: root, dir: filepath.Join(root, "bin"), progress: progress{mu: &sync.Mutex{}, out: out}, stamps: map[string]string{}}
	require.NoError(t, os.Mkdir(b.dir, 0o700))
	writeFile(t, filepath.Join(root, "go.mod"), "module example.com/hello\n\ngo 1.24\n")
	writeFile(t, filepath.Join(root, "go.sum"), "")
	writeFile(t, filepath.Join(root, "main.go"), "package main\n\nfunc main() { println(\"one\") }\n")
	return b, build{name: "hello", module: ".", pkg: ".", stamped: true}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func says(t *testing.T, b *builder) string {
	t.Helper()
	out, err := exec.Command(filepath.Join(b.dir, "hello")).CombinedOutput() //nolint:gosec // built above
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

func TestBuildOncePerPins(t *testing.T) {
	b, item := helloModule(t, io.Discard)
	require.NoError(t, b.ensure(t.Context(), []build{item}))
	require.Equal(t, "one", says(t, b))

	// The pins are the same, so the changed source is not even looked at.
	writeFile(t, filepath.Join(b.root, "main.go"), "package main\n\nfunc main() { println(\"two\") }\n")
	require.NoError(t, b.ensure(t.Context(), []build{item}))
	require.Equal(t, "one", says(t, b))

	writeFile(t, filepath.Join(b.root, "go.mod"), "module example.com/hello\n\ngo 1.24.0\n")
	again := &builder{root: b.root, dir: b.dir, progress: b.progress, stamps: map[string]string{}}
	require.NoError(t, again.ensure(t.Context(), []build{item}))
	require.Equal(t, "two", says(t, b))

	require.NoError(t, os.Remove(filepath.Join(b.dir, "hello")))
	require.NoError(t, again.ensure(t.Context(), []build{item}))
	require.Equal(t, "two", says(t, b), "what was deleted is built again")
}

func TestOwnBinariesFollowTheSource(t *testing.T) {
	b, item := helloModule(t, io.Discard)
	item.stamped = false
	require.NoError(t, b.ensure(t.Context(), []build{item}))
	writeFile(t, filepath.Join(b.root, "main.go"), "package main\n\nfunc main() { println(\"two\") }\n")
	require.NoError(t, b.ensure(t.Context(), []build{item}))
	require.Equal(t, "two", says(t, b))
}

func TestFailedBuildSaysWhy(t *testing.T) {
	b, item := helloModule(t, io.Discard)
	writeFile(t, filepath.Join(b.root, "main.go"), "package main\n\nfunc main() { nonsense() }\n")
	err := b.ensure(t.Context(), []build{item})
	require.ErrorContains(t, err, "build hello")
	require.ErrorContains(t, err, "undefined: nonsense")
	writeFile(t, filepath.Join(b.root, "main.go"), "package main\n\nfunc main() { println(\"changed\") }\n")
	require.NoError(t, b.ensure(t.Context(), []build{item}), "a failed build leaves no stamp and no lock")
	require.Equal(t, "changed", says(t, b))
}

func TestBuildLog(t *testing.T) {
	var log buildLog
	for _, line := range []string{"go: downloading k8s.io/api v0.34.1\n", "k8s.io/api/core/v1\nexample.com/hello\n", "# example.com/hello\n./main.go:3:15: undefined: nonsense\n"} {
		_, err := log.Write([]byte(line))
		require.NoError(t, err)
	}
	compiled, modules := log.counts()
	require.Equal(t, 2, compiled)
	require.Equal(t, 1, modules)
	require.Equal(t, "# example.com/hello\n./main.go:3:15: undefined: nonsense", log.messages())
}

func TestVersionFlags(t *testing.T) {
	require.Equal(t, " -X k8s.io/component-base/version.gitVersion=v1.34.1 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=34"+
		" -X k8s.io/client-go/pkg/version.gitVersion=v1.34.1 -X k8s.io/client-go/pkg/version.gitMajor=1 -X k8s.io/client-go/pkg/version.gitMinor=34", versionFlags("v1.34.1"))
}

func TestWhatIsBuilt(t *testing.T) {
	tests := map[string]struct {
		options Options
		with    []build
		without []build
	}{
		"all programs":       {with: []build{buildScheduler, buildController}, without: []build{buildStock}},
		"stock scheduler":    {options: Options{StockScheduler: true}, with: []build{buildStock, buildController}, without: []build{buildScheduler}},
		"without controller": {options: Options{WithoutController: true}, with: []build{buildScheduler}, without: []build{buildController}},
		"rivals":             {options: Options{Rivals: true}, with: []build{buildScheduler, buildStock, buildKubeSched}},
		"rivals of stock":    {options: Options{Rivals: true, StockScheduler: true}, with: []build{buildStock, buildKubeSched}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := test.options.builds()
			require.Subset(t, got, append(test.with, buildEtcd, buildAPIServer, buildKCM, buildVolcanoCM, buildWebhooks, buildKwok))
			names := map[string]bool{}
			for _, item := range got {
				require.False(t, names[item.name], "%s is built twice", item.name)
				names[item.name] = true
			}
			for _, item := range test.without {
				require.NotContains(t, got, item)
			}
		})
	}
}
