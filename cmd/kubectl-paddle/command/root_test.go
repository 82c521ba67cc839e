// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
)

func TestExitCode(t *testing.T) {
	jobs := schema.GroupResource{Group: "batch.paddlepaddle.org", Resource: "paddlejobs"}
	for name, test := range map[string]struct {
		err  error
		want int
	}{
		"nothing":         {nil, 0},
		"anything":        {errors.New("x"), plan.Failed},
		"no permission":   {apierrors.NewForbidden(jobs, "a", errors.New(`User "u" cannot create resource "paddlejobs" in API group "batch.paddlepaddle.org"`)), plan.Failed},
		"a quota":         {apierrors.NewForbidden(jobs, "a", errors.New("exceeded quota: jobs")), plan.Refused},
		"not valid":       {apierrors.NewInvalid(schema.GroupKind{Kind: "PaddleJob"}, "a", nil), plan.Refused},
		"taken":           {apierrors.NewAlreadyExists(jobs, "a"), plan.Refused},
		"not there":       {fmt.Errorf("get: %w", apierrors.NewNotFound(jobs, "a")), plan.NotFound},
		"one of several":  {errors.Join(nil, apierrors.NewNotFound(jobs, "a")), plan.NotFound},
		"no such pod":     {plan.Errorf(plan.NotFound, "x"), plan.NotFound},
		"refused by us":   {refused("x"), plan.Refused},
		"a wrong command": {fmt.Errorf("run: %w", usage("x")), plan.Usage},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, exitCode(test.err)) })
	}
}
