// SPDX-License-Identifier: Apache-2.0

package options

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	defaults := Options{Steps: 60, LogEvery: 10, Seed: 1, Batch: 64, CheckpointEvery: 10, Deadline: time.Minute, CrashAtStep: -1, CrashAttempt: 1, Paddle: Current}
	o, err := Parse(nil, nil, io.Discard)
	require.NoError(t, err)
	require.Equal(t, defaults, o)

	env := map[string]string{"MODEL_DIR": "/models", "TRAINER_STEPS": "7", "TRAINER_SLOW_START": "3s", "TRAINER_CRASH_AT_STEP": "2", "TRAINER_SERVERS_EXIT": "true"}
	o, err = Parse([]string{"--steps", "8", "--is_local", "0", "--cloud_train", "1"}, env, io.Discard)
	require.NoError(t, err)
	want := defaults
	want.ModelDir, want.Steps, want.SlowStart, want.CrashAtStep, want.ServersExit, want.CloudTrain = "/models", 8, 3*time.Second, 2, true, 1
	require.Equal(t, want, o, "a flag beats the environment")

	for _, test := range []struct {
		args []string
		env  map[string]string
		want string
	}{
		{[]string{"--no-such"}, nil, "not defined"},
		{[]string{"extra"}, nil, `takes no arguments but flags: ["extra"]`},
		{nil, map[string]string{"TRAINER_STEPS": "many"}, `TRAINER_STEPS="many"`},
		{[]string{"--steps=0"}, nil, "must be above 0"},
		{[]string{"--batch=0"}, nil, "must be above 0"},
		{[]string{"--log-every=0"}, nil, "must be above 0"},
		{[]string{"--checkpoint-every=-1"}, nil, "must not be below 0"},
		{[]string{"--deadline=0s"}, nil, "deadline must be above 0"},
		{[]string{"--paddle=1.8"}, nil, `it is "1.8"`},
	} {
		_, err := Parse(test.args, test.env, io.Discard)
		require.ErrorContains(t, err, test.want)
	}
}
