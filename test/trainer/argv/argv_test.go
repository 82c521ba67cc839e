// SPDX-License-Identifier: Apache-2.0

package argv

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		line []string
		want Command
	}{
		{[]string{"trainer"}, Command{Program: Train, Args: []string{}}},
		{[]string{"/usr/local/bin/trainer", "--steps", "3"}, Command{Program: Train, Args: []string{"--steps", "3"}}},
		{[]string{"python3", "train.py"}, Command{Program: Train, Args: []string{}}},
		{[]string{"/usr/bin/python", "train.py", "--steps=3"}, Command{Program: Train, Args: []string{"--steps=3"}}},
		{[]string{"python", "-m", "paddle.distributed.launch", "train_fleet.py"}, Command{Program: Launch, Args: []string{}}},
		{[]string{"python", "-m", "paddle.distributed.launch", "run_check"}, Command{Program: Launch, Args: []string{}}},
		{[]string{"trainer", "python", "-m", "paddle.distributed.launch", "train.py", "-x"}, Command{Program: Launch, Args: []string{"-x"}}},
		{[]string{"bash", "-c", "cd /nas/wide_and_deep; python3 train.py"}, Command{Program: Train, Dir: "/nas/wide_and_deep", Args: []string{}}},
		{[]string{"sh", "-c", "cd /workspace/job && python train.py --steps 3"},
			Command{Program: Train, Dir: "/workspace/job", Args: []string{"--steps", "3"}}},
		{[]string{"paddleformers-cli", "train", "/config/sft.yaml"}, Command{Program: PaddleFormers}},
		{[]string{"bash", "-c", "cd /work && /usr/bin/erniekit train pt.yaml"}, Command{Program: ERNIEKit, Dir: "/work"}},
	} {
		got, err := Parse(test.line)
		require.NoError(t, err, test.line)
		require.Equal(t, test.want, got, test.line)
	}
	for _, line := range [][]string{
		{}, {"trainer", "train.py"}, {"trainer", "ls"}, {"fleetrun", "train.py"}, {"python"}, {"python", "run_check"}, {"python", "infer.py"},
		{"python", "-m", "pip", "install"}, {"python", "-m", "paddle.distributed.launch"}, {"python", "-m", "paddle.distributed.launch", "--nnodes=2", "train.py"},
		{"sh"}, {"sh", "train.sh"}, {"sh", "-c", ""}, {"sh", "-c", "ls"}, {"sh", "-c", "cd /a"}, {"sh", "-c", "cd /a; cd /b; python train.py"},
		{"sh", "-c", "cd /a && sh -c ls"}, {"sh", "-c", "python train.py | tee log"}, {"sh", "-c", "python train.py $HOME"}, {"sh", "-c", "python train.py & sleep"},
		{"sh", "-c", "echo a; python train.py"}, {"bash", "-x", "-c", "python train.py"}, {"paddle_k8s", "start_fluid"}, {"paddleformers-cli", "help"}, {"erniekit", "train"}, {"erniekit", "export", "a.yaml"},
	} {
		_, err := Parse(line)
		require.ErrorAs(t, err, &RefusedError{}, line)
		require.ErrorContains(t, err, "is not a command that this image supports")
	}
}
