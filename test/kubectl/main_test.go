// SPDX-License-Identifier: Apache-2.0

package kubectl_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/command"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// cluster is the sandbox that all tests of this package share.
var cluster *live.Plane

func TestMain(m *testing.M) {
	live.SideBySide(16)
	os.Exit(live.Main(m, sandbox.Options{
		StateDir: "../../_output/test-kubectl", Progress: os.Stderr, ControllerArgs: []string{"--leader-elect=false", "-v=3"},
	}, func(p *live.Plane) error { cluster = p; return nil }))
}

// user types in one namespace.
type user struct {
	namespace string
	stdin     string
	as        []string // flags of impersonation
}

// paddle is what a run of kubectl paddle says.
func (u user) paddle(ctx context.Context, args ...string) (out, errOut string, code int) {
	var stdout, stderr bytes.Buffer
	args = append(append([]string{"--kubeconfig", cluster.Kubeconfig(), "--namespace", u.namespace}, u.as...), args...)
	code = command.Run(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(u.stdin), Out: &stdout, ErrOut: &stderr})
	return stdout.String(), stderr.String(), code
}
