// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// defaultTaskRoles are the roles of Paddle's own task names.
var defaultTaskRoles = func() paddlejob.RoleMap {
	a := config.Default()
	return paddlejob.NewRoleMap(a.ServerTasks, a.WorkerTasks, a.HeterTasks)
}()

func TestDefaultTaskRoles(t *testing.T) {
	require.Equal(t, paddlejob.RoleMap{
		"ps": paddlejob.Server, "pserver": paddlejob.Server, "worker": paddlejob.Worker, "trainer": paddlejob.Worker, "heter": paddlejob.Heter,
	}, defaultTaskRoles)
}

// Plugins are built each second: an error that is the same as before is not logged again.
func TestArgumentErrorsAreLoggedOncePerChange(t *testing.T) {
	s := &stateStore{}
	logs := func(errs ...*field.Error) bool { return logged(t, func() { s.logArguments(errs) }) != "" }
	a, b := field.Invalid(field.NewPath("a"), 1, "wrong"), field.Invalid(field.NewPath("b"), 1, "wrong")
	require.False(t, logs())
	require.True(t, logs(a))
	require.False(t, logs(a))
	require.True(t, logs(b))
	require.False(t, logs())
	require.True(t, logs(b))
}

// An argument reaches the session.
func TestTaskNamesFromArguments(t *testing.T) {
	argument := "    arguments:\n      server-tasks: keeper\n"
	objects := func() []any {
		workers := withEnv(plainPods("job", "worker", 4, oneCPU), "PADDLE_TRAINER_ID", "0")
		return []any{
			podGroup("job", 2, map[string]int32{"keeper": 2, "worker": 4}), plainPods("job", "keeper", 2, oneCPU), workers,
			// n1: [keeper][keeper][worker]
			node("n1", resources{"cpu": "3", "memory": "8Gi"}),
		}
	}
	c := newCluster(t, configuration(actionsAll, tier(1, "", withPaddle+argument), tier(2, "", "")), objects()...)
	c.sessions(2, "job-keeper-0", "job-keeper-1", "job-worker-0")
}
