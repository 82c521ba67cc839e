// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

func TestParseArguments(t *testing.T) {
	for name, test := range map[string]struct {
		arguments framework.Arguments
		roles     map[string]role // beside the defaults
		errors    []string
	}{
		"none": {nil, nil, nil},
		"names": {framework.Arguments{argServerTasks: "server, parameters", argWorkerTasks: "chief", argHeterTasks: "stage"},
			map[string]role{"server": roleServer, "parameters": roleServer, "chief": roleWorker, "stage": roleHeter}, nil},
		"a name that is known already": {framework.Arguments{argServerTasks: "ps,server"}, map[string]role{"server": roleServer}, nil},
		"unknown key": {framework.Arguments{"serverTasks": "server", argWorkerTasks: "chief"}, map[string]role{"chief": roleWorker},
			[]string{`unknown argument "serverTasks": it does nothing; known are heter-tasks, server-tasks, worker-tasks`}},
		"not a text": {framework.Arguments{argServerTasks: 3}, nil,
			[]string{`argument "server-tasks" is ignored: 3 is not a text; write task names separated by commas`}},
		"empty name": {framework.Arguments{argServerTasks: "server,,ps"}, nil,
			[]string{`argument "server-tasks" is ignored: "server,,ps" holds an empty task name`}},
		"another role's name": {framework.Arguments{argServerTasks: "server,worker"}, nil,
			[]string{`argument "server-tasks" is ignored: task name "worker" means worker already`}},
		"one name for two roles": {framework.Arguments{argServerTasks: "node", argWorkerTasks: "node"}, map[string]role{"node": roleServer},
			[]string{`argument "worker-tasks" is ignored: task name "node" means server already`}},
		"every error is told": {framework.Arguments{"a": 1, "b": 2}, nil, []string{`unknown argument "a"`, `unknown argument "b"`}},
	} {
		t.Run(name, func(t *testing.T) {
			parsed, err := parseArguments(test.arguments)
			want := defaultArguments()
			for name, role := range test.roles {
				want.taskRoles[name] = role
			}
			require.Equal(t, want, parsed)
			if test.errors == nil {
				require.NoError(t, err)
			}
			for _, text := range test.errors {
				require.ErrorContains(t, err, text)
			}
		})
	}
	require.Equal(t, arguments{taskRoles: defaultTaskRoles}, defaultArguments(), "arguments of one session do not reach the next")
}

// Plugins are built each second: an error that is the same as before is not logged again.
func TestArgumentErrorsAreLoggedOncePerChange(t *testing.T) {
	var last lastMessage
	require.False(t, last.changed(nil))
	require.True(t, last.changed(errors.New("a")))
	require.False(t, last.changed(errors.New("a")))
	require.True(t, last.changed(errors.New("b")))
	require.True(t, last.changed(nil))
	require.True(t, last.changed(errors.New("b")))
}

// An argument reaches the session.
func TestTaskNamesFromArguments(t *testing.T) {
	argument := "    arguments:\n      server-tasks: keeper\n"
	objects := func() []any {
		workers := withEnv(plainPods("job", "worker", 4, oneCPU), "PADDLE_PORT", "36000")
		return []any{
			podGroup("job", 2, map[string]int32{"keeper": 2, "worker": 4}), plainPods("job", "keeper", 2, oneCPU), workers,
			// n1: [keeper][keeper][worker]
			node("n1", resources{"cpu": "3", "memory": "8Gi"}),
		}
	}
	c := newCluster(t, configuration(actionsAll, tier(1, "", withPaddle+argument), tier(2, "", "")), objects()...)
	c.sessions(2, "job-keeper-0", "job-keeper-1", "job-worker-0")
}
