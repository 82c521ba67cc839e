// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

func TestCommandWarnings(t *testing.T) {
	t.Parallel()
	role := func(replicas int32, command ...string) *v1.ResourceSpec {
		if len(command) == 1 {
			command = []string{"bash", "-c", command[0]}
		}
		return &v1.ResourceSpec{Replicas: replicas, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Command: command}}}}}
	}
	workers := func(command ...string) *v1.PaddleJob {
		return &v1.PaddleJob{Spec: v1.PaddleJobSpec{Worker: role(4, command...)}}
	}
	with := func(job *v1.PaddleJob, change func(*v1.PaddleJob, *corev1.Container)) *v1.PaddleJob {
		change(job, &job.Spec.Worker.Template.Spec.Containers[0])
		return job
	}
	variable := func(name, value string) func(*v1.PaddleJob, *corev1.Container) {
		return func(_ *v1.PaddleJob, c *corev1.Container) {
			c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
		}
	}
	elastic := func(job *v1.PaddleJob, _ *corev1.Container) {
		job.Spec.Elastic = ptr.To[int32](1)
		job.Spec.Worker.Requests, job.Spec.Worker.Limits = ptr.To[int32](2), ptr.To[int32](8)
	}
	servers := func(job *v1.PaddleJob, _ *corev1.Container) { job.Spec.PS = role(1, "python", "train.py") }
	alone := func(job *v1.PaddleJob, _ *corev1.Container) { job.Spec.Worker.Replicas = 1 }
	const field = "spec.worker.template.spec.containers[0]"
	launch := []string{"python", "-m", "paddle.distributed.launch"}
	line := func(words ...string) []string { return append(append([]string{}, launch...), words...) }
	for name, test := range map[string]struct {
		job  *v1.PaddleJob
		want []string // each "beginning ... end"
	}{
		"the launcher":              {workers(line("--gpus", "0,1", "train.py")...), nil},
		"fleetrun":                  {workers("/usr/bin/fleetrun", "train.py"), nil},
		"a command line":            {workers("paddleformers-cli", "train", "a.yaml"), nil},
		"no container":              {&v1.PaddleJob{Spec: v1.PaddleJobSpec{Worker: &v1.ResourceSpec{Replicas: 2}}}, nil},
		"no launcher":               {workers("python3.10", "-u", "/a/train.py"), []string{field + " starts /a/train.py ... launch /a/train.py"}},
		"no launcher, in a shell":   {workers("cd /a && /usr/bin/python train.py --lr=1"), []string{field + " starts train.py ... launch train.py"}},
		"no launcher, elastic":      {with(workers("python", "train.py"), elastic), []string{field + " starts train.py ... train.py"}},
		"no launcher, one worker":   {with(workers("python", "train.py"), alone), nil},
		"no launcher, with servers": {with(workers("python", "train.py"), servers), nil},
		"a module":                  {workers("python", "-m", "my.trainer", "x.py"), nil},
		"a text":                    {workers("python", "-c", "import x; x.py"), nil},
		"not Python":                {workers("bash", "train.sh"), nil},
		"a launcher behind another": {workers("python prepare.py; python -m paddle.distributed.launch train.py"), nil},
		"a command line behind one": {workers("python prepare.py; erniekit train a.yaml"), nil},
		"a script behind another":   {workers("python prepare.py; bash train.sh"), nil},
		"nodes without a number":    {workers("fleetrun", "--nnodes", "train.py"), nil},
		"a launcher in a comment":   {workers("# python -m paddle.distributed.launch\npython train.py"), []string{field + " starts train.py ... train.py"}},
		"PaddleX starts it itself":  {workers("python", "main.py", "-o", "Train.dist_ips=a,b"), nil},
		"arguments beside the command": {with(workers(), func(_ *v1.PaddleJob, c *corev1.Container) {
			c.Command, c.Args = []string{"python"}, []string{"train.py"}
		}), []string{field + " starts train.py ... train.py"}},
		"nodes as they are":             {workers(line("--nnodes=4", "train.py")...), nil},
		"other nodes":                   {workers(line("--nnodes", "2", "train.py")...), []string{field + " has --nnodes 2, ... write $(NNODES)"}},
		"a range of nodes":              {workers(line("--nnodes=2:4", "train.py")...), []string{field + " has --nnodes 2:4, ... $(NNODES)"}},
		"a range, elastic":              {with(workers(line("--nnodes=2:4", "train.py")...), elastic), nil},
		"nodes with servers":            {with(workers(line("--nnodes=2", "train.py")...), servers), nil},
		"nodes by variable":             {workers("python -m paddle.distributed.launch \\\n --nnodes=$NNODES --master \"$MASTER_ADDR:$MASTER_PORT\" train.py"), nil},
		"a master":                      {workers("fleetrun --master '10.0.0.1:80' train.py"), []string{field + " has --master 10.0.0.1:80: ... $(MASTER_ADDR):$(MASTER_PORT)"}},
		"the program's own arguments":   {workers(line("train.py", "--nnodes", "2", "--workers", "3")...), nil},
		"an option with a space":        {workers("fleetrun --ips=a,b --selected_gpu 0,1 train.py"), []string{field + " has --selected_gpu 0,1: ... --selected_gpu=0,1"}},
		"an option with a sign":         {workers("fleetrun --workers=a:1 train.py"), nil},
		"an option without a value":     {workers("fleetrun", "--workers", "--log_dir=l", "train.py"), nil},
		"an option, legacy":             {workers("fleetrun --ips=a --legacy=True --workers a:1 train.py"), nil},
		"legacy behind the option":      {workers("fleetrun --workers a:1 --legacy=True train.py"), []string{field + " has --workers a:1: ... --workers=a:1"}},
		"legacy with a space":           {workers("fleetrun --legacy True train.py"), []string{field + " has --legacy True: ... --legacy=True"}},
		"an option of a server":         {with(workers(line("train.py")...), func(j *v1.PaddleJob, _ *corev1.Container) { j.Spec.PS = role(1, "fleetrun --http_port 8900 train.py") }), []string{"spec.ps.template.spec.containers[0] has --http_port 8900: ... 8900"}},
		"a variable of a command line":  {with(workers("erniekit", "train", "a.yaml"), variable("MASTER_ADDR", "a")), []string{field + " sets MASTER_ADDR to a, which erniekit ... leave it out"}},
		"the rank of a command line":    {with(workers("paddleformers-cli", "train", "a.yaml"), variable("RANK", "0")), []string{field + " sets RANK to 0, which paddleformers-cli ... leave it out"}},
		"a rank that is not read":       {with(workers("erniekit", "train", "a.yaml"), variable("RANK", "0")), nil},
		"a source of one":               {with(workers("erniekit", "train", "a.yaml"), variable("MASTER_PORT", "")), []string{field + " sets MASTER_PORT to valueFrom ... out"}},
		"the same number of nodes":      {with(workers("erniekit", "train", "a.yaml"), variable("NNODES", "4")), nil},
		"the same variable elsewhere":   {with(workers("fleetrun", "train.py"), variable("RANK", "0")), nil},
		"set in front":                  {workers("NNODES=2 MASTER_ADDR=$MASTER_ADDR paddleformers-cli train a.yaml"), []string{field + " sets NNODES to 2, which paddleformers-cli ... out"}},
		"set behind env":                {workers("env", "MASTER_ADDR=10.0.0.1", "/bin/erniekit", "train", "a.yaml"), []string{field + " sets MASTER_ADDR to 10.0.0.1, ... out"}},
		"a word with a blank":           {workers(line("--log_dir", "a --nnodes 2", "train.py")...), nil},
		"behind another command":        {workers("python prepare.py && /usr/bin/fleetrun --nnodes 2 train.py"), []string{field + " has --nnodes 2, ... $(NNODES)"}},
		"behind a pipe":                 {workers("cat a.py | fleetrun --nnodes 2 train.py"), []string{field + " has --nnodes 2, ... $(NNODES)"}},
		"over two lines":                {workers("fleetrun \\\n --nnodes 2 train.py"), []string{field + " has --nnodes 2, ... $(NNODES)"}},
		"an older name of the launcher": {workers("python -m paddle.distributed.fleet.launch --nnodes 2 train.py"), []string{field + " has --nnodes 2, ... $(NNODES)"}},
		"an option of heter":            {workers("fleetrun --heter_worker_num 2 train.py"), []string{field + " has --heter_worker_num 2: ... 2"}},
		"the command of the image":      {with(&v1.PaddleJob{Spec: v1.PaddleJobSpec{Worker: role(4, []string{}...)}}, variable("FLAGS_START_PORT", "1")), []string{field + " sets FLAGS_START_PORT: ... out"}},
		"exported":                      {workers("export NNODES=2; erniekit train a.yaml"), []string{field + " sets NNODES to 2, ... out"}},
		"set before":                    {workers("RANK=1\npaddleformers-cli train a.yaml"), []string{field + " sets RANK to 1, ... out"}},
		"set for another command":       {workers("RANK=1 ls; paddleformers-cli train a.yaml"), nil},
		"an argument like a variable":   {workers("paddleformers-cli train a.yaml RANK=3"), nil},
		"nodes of an elastic one":       {with(with(workers("erniekit", "train", "a.yaml"), variable("NNODES", "2")), elastic), nil},
		"the rank of an elastic one":    {with(with(workers("paddleformers-cli", "train", "a.yaml"), variable("RANK", "2")), elastic), []string{field + " sets RANK to 2, ... out"}},
		"endpoints by hand":             {with(workers(line("train.py")...), variable("DISTRIBUTED_TRAINER_ENDPOINTS", "a:1")), []string{field + " sets DISTRIBUTED_TRAINER_ENDPOINTS: it wins ... out"}},
		"an elastic job's old name":     {with(workers(line("train.py")...), variable("PADDLE_ELASTIC_JOB_ID", "a")), []string{field + " sets PADDLE_ELASTIC_JOB_ID: the launcher of Paddle 2.3 ... out"}},
		"a first port":                  {workers("export FLAGS_START_PORT=17000\nfleetrun train.py"), []string{field + " sets FLAGS_START_PORT: the launcher ... out"}},
		"several, in the order of each": {with(workers("fleetrun --master a:1 --nnodes 2 --workers a:1 train.py"), variable("FLAGS_START_PORT", "1")), []string{field + " sets FLAGS ... out", field + " has --workers ... --workers=a:1", field + " has --master ... PORT)", field + " has --nnodes ... (NNODES)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := commandWarnings(test.job)
			require.Len(t, got, len(test.want), "%q", got)
			for i, want := range test.want {
				parts := strings.Split(want, " ... ")
				require.True(t, strings.HasPrefix(got[i], parts[0]), got[i])
				for _, part := range parts[1:] {
					require.Contains(t, got[i], part)
				}
				require.True(t, strings.HasSuffix(got[i], parts[len(parts)-1]), got[i])
			}
		})
	}
}
