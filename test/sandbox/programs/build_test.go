// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// helloModule creates a Go module of one small program in a folder of a clone, and a builder for the clone.
func helloModule(t *testing.T, module string) (*builder, Program) {
	t.Helper()
	root := t.TempDir()
	b := &builder{root: root, dir: filepath.Join(root, "bin"), say: t.Logf, stamps: map[string]string{}}
	dir := filepath.Join(root, module)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.Mkdir(b.dir, 0o700))
	writeFile(t, filepath.Join(dir, "go.mod"), "module example.com/hello\n\ngo 1.24\n")
	writeFile(t, filepath.Join(dir, "go.sum"), "")
	writeFile(t, filepath.Join(dir, "main.go"), "package main\n\nfunc main() { println(\"one\") }\n")
	return b, Program{Name: "hello", Module: module, Package: "."}
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
	b, item := helloModule(t, "hack/hello")
	require.NoError(t, b.ensure(t.Context(), []Program{item}))
	require.Equal(t, "one", says(t, b))

	// The pins are the same, so the changed source is not even looked at.
	writeFile(t, filepath.Join(b.root, item.Module, "main.go"), "package main\n\nfunc main() { println(\"two\") }\n")
	require.NoError(t, b.ensure(t.Context(), []Program{item}))
	require.Equal(t, "one", says(t, b))

	writeFile(t, filepath.Join(b.root, item.Module, "go.mod"), "module example.com/hello\n\ngo 1.24.0\n")
	again := &builder{root: b.root, dir: b.dir, say: b.say, stamps: map[string]string{}}
	require.NoError(t, again.ensure(t.Context(), []Program{item}))
	require.Equal(t, "two", says(t, b))

	require.NoError(t, os.Remove(filepath.Join(b.dir, "hello")))
	require.NoError(t, again.ensure(t.Context(), []Program{item}))
	require.Equal(t, "two", says(t, b), "what was deleted is built again")
}

// A patch in the folder of pins changes a copy of the module that has the program's package.
func TestBuildOfAPatchedModule(t *testing.T) {
	b, hello := helloModule(t, "hello")
	pins := filepath.Join(b.root, "hack", "pins")
	require.NoError(t, os.MkdirAll(pins, 0o700))
	writeFile(t, filepath.Join(pins, "go.mod"),
		"module example.com/pins\n\ngo 1.24\n\nrequire example.com/hello v0.0.0\n\nreplace example.com/hello => ../../hello\n\ntool example.com/hello\n")
	writeFile(t, filepath.Join(pins, "go.sum"), "")
	item := Program{Name: "hello", Module: "hack/pins", Package: "example.com/hello"}
	build := func() error {
		b.stamps = map[string]string{} // another process
		return b.ensure(t.Context(), []Program{item})
	}
	require.NoError(t, build())
	require.Equal(t, "one", says(t, b))

	const header = "--- a/main.go\n+++ b/main.go\n"
	patch := filepath.Join(pins, "0001-say-two.patch")
	writeFile(t, patch, "Subject: say two\n\n---\n"+header+"@@ -1,3 +1,3 @@\n package main\n \n-func main() { println(\"one\") }\n+func main() { println(\"two\") }\n")
	require.NoError(t, build())
	require.Equal(t, "two", says(t, b))
	source, err := os.ReadFile(filepath.Join(b.root, hello.Module, "main.go"))
	require.NoError(t, err)
	require.Contains(t, string(source), "one", "the module itself is as before")

	writeFile(t, patch, header+"@@ -1 +1 @@\n-no such line\n+two\n")
	require.ErrorContains(t, build(), "apply "+patch+" to example.com/hello")
}

func TestOwnBinariesFollowTheSource(t *testing.T) {
	b, item := helloModule(t, Sources)
	require.NoError(t, b.ensure(t.Context(), []Program{item}))
	writeFile(t, filepath.Join(b.root, item.Module, "main.go"), "package main\n\nfunc main() { println(\"two\") }\n")
	require.NoError(t, b.ensure(t.Context(), []Program{item}))
	require.Equal(t, "two", says(t, b))
}

func TestFailedBuildSaysWhy(t *testing.T) {
	b, item := helloModule(t, "hack/hello")
	writeFile(t, filepath.Join(b.root, item.Module, "main.go"), "package main\n\nfunc main() { nonsense() }\n")
	err := b.ensure(t.Context(), []Program{item})
	require.ErrorContains(t, err, "build hello")
	require.ErrorContains(t, err, "undefined: nonsense")
	writeFile(t, filepath.Join(b.root, item.Module, "main.go"), "package main\n\nfunc main() { println(\"changed\") }\n")
	require.NoError(t, b.ensure(t.Context(), []Program{item}), "a failed build leaves no stamp and no lock")
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
