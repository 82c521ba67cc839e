// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"bytes"
	"context"
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/command"
)

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
