// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/train"
)

// steps is how many the trainer takes where a test says nothing else.
const steps = 60

// trial is one job in its own namespace. Its volumes are folders of the machine's.
type trial struct {
	*journal
	namespace, job string
	folder         string
}

func newTrial(t *testing.T, job string) *trial {
	t.Helper()
	namespace := cluster.Namespace(t)
	t.Cleanup(func() {
		// What a test that has failed leaves would take the machine from the others.
		require.NoError(t, cluster.Kube.CoreV1().Namespaces().Delete(context.Background(), namespace, metav1.DeleteOptions{}))
	})
	r := &trial{journal: follow(t, namespace, job), namespace: namespace, job: job, folder: filepath.Join(cluster.StateDir(), "volumes", namespace)}
	require.NoError(t, os.MkdirAll(r.models(), 0o755)) //nolint:gosec // containers may run as anybody
	return r
}

// models returns where the job's model is written.
func (r *trial) models() string { return filepath.Join(r.folder, "models") }

// create submits a job whose pods have been fitted.
func (r *trial) create(t *testing.T, job *v1.PaddleJob) {
	t.Helper()
	r.begun = time.Now()
	_, err := cluster.Paddle.BatchV1().PaddleJobs(r.namespace).Create(t.Context(), job, metav1.CreateOptions{})
	require.NoError(t, err)
}

// awaitJob waits until the job is as wanted.
func (r *trial) awaitJob(t *testing.T, what string, want func(*v1.PaddleJob) bool) *v1.PaddleJob {
	t.Helper()
	return cluster.AwaitJob(t, r.namespace, r.job, what, func(job *v1.PaddleJob) bool {
		wanted := want(job)
		ended := job.Status.Phase == v1.Failed || job.Status.Phase == v1.Completed
		require.False(t, ended && !wanted, "it has finished: %+v", job.Status)
		return wanted
	})
}

func (r *trial) awaitPhase(t *testing.T, phase v1.Phase) *v1.PaddleJob {
	t.Helper()
	return r.awaitJob(t, string(phase), func(job *v1.PaddleJob) bool { return job.Status.Phase == phase })
}

// awaitTrained waits for the job's end, and requires that this number of workers have trained the model which one process gets.
func (r *trial) awaitTrained(t *testing.T, workers int) *v1.PaddleJob {
	t.Helper()
	job := r.awaitPhase(t, v1.Completed)
	t.Logf("ended after %.1fs", time.Since(r.begun).Seconds())
	r.requireModel(t, workers, []train.Segment{{World: workers}})
	return job
}

var trainedLine = regexp.MustCompile(`trained: loss ([\d.]+) -> ([\d.]+), model sha256 ([0-9a-f]{64})$`)

// requireModel checks the last line of each worker and the model, which this number of workers have trained in turn.
func (r *trial) requireModel(t *testing.T, workers int, worlds []train.Segment) {
	t.Helper()
	require.NotEmpty(t, worlds)
	want := train.Hash(train.Model(worlds, steps))
	lines := r.await(t, "worker", "trained: ", workers)
	require.Len(t, lines, workers)
	for _, l := range lines {
		found := trainedLine.FindStringSubmatch(l.text)
		require.NotNil(t, found, l.text)
		first, err := strconv.ParseFloat(found[1], 64)
		require.NoError(t, err)
		last, err := strconv.ParseFloat(found[2], 64)
		require.NoError(t, err)
		require.Less(t, last, first, "the loss has fallen")
		require.Equal(t, want, found[3], "the model is that of one process")
	}
	written := r.model(t)
	require.Equal(t, steps, written.Steps)
	require.Equal(t, worlds, written.Worlds)
	require.Equal(t, want, train.Hash(written.Params))
}

func (r *trial) model(t *testing.T) (written train.State) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.models(), train.ModelFile))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &written))
	return written
}

// change is one difference from a plain job.
type change func(*v1.PaddleJob)

// psJob returns a job of two servers and two workers, whose pods stay after the end.
func (r *trial) psJob(changes ...change) *v1.PaddleJob {
	return r.workersOnly(append([]change{func(job *v1.PaddleJob) { job.Spec.PS = role(2) }}, changes...)...)
}

// workersOnly returns a job of two workers.
func (r *trial) workersOnly(changes ...change) *v1.PaddleJob {
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: r.job, Namespace: r.namespace}}
	job.Spec.Worker, job.Spec.CleanPodPolicy = role(2), v1.CleanNever
	for _, c := range changes {
		c(job)
	}
	for _, spec := range roles(job) {
		env := map[string]string{}
		if job.Spec.Elastic == nil {
			env["TRAINER_EXPECT_WORLD"] = strconv.Itoa(int(job.Spec.Worker.Replicas))
		}
		r.fit(&spec.Template, env)
	}
	return job
}

func roles(job *v1.PaddleJob) (specs []*v1.ResourceSpec) {
	for _, spec := range []*v1.ResourceSpec{job.Spec.PS, job.Spec.Worker, job.Spec.Heter} {
		if spec != nil {
			specs = append(specs, spec)
		}
	}
	return specs
}

func role(replicas int32) *v1.ResourceSpec {
	return &v1.ResourceSpec{Replicas: replicas, Template: corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "paddle", Image: trainerImage}}},
	}}
}

func intranet(by v1.Intranet) change { return func(job *v1.PaddleJob) { job.Spec.Intranet = by } }

func gloo(level int32) change { return func(job *v1.PaddleJob) { job.Spec.WithGloo = &level } }

func heter(replicas int32) change {
	return func(job *v1.PaddleJob) { job.Spec.Heter = role(replicas) }
}

func workers(replicas int32) change {
	return func(job *v1.PaddleJob) { job.Spec.Worker.Replicas = replicas }
}

// launched has Paddle's launcher start the program.
var launched = starts("python", "-m", "paddle.distributed.launch", "train.py")

// starts returns the command of all roles.
func starts(words ...string) change {
	return func(job *v1.PaddleJob) {
		for _, spec := range roles(job) {
			spec.Template.Spec.Containers[0].Command = words
		}
	}
}

// variable sets an option of the trainer in each role that exists so far.
func variable(name, value string) change {
	return func(job *v1.PaddleJob) {
		for _, spec := range roles(job) {
			c := &spec.Template.Spec.Containers[0]
			c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
		}
	}
}

// runs sets a job's run policy.
func runs(edit func(*v1.RunPolicy)) change {
	return func(job *v1.PaddleJob) {
		if job.Spec.RunPolicy == nil {
			job.Spec.RunPolicy = &v1.RunPolicy{}
		}
		edit(job.Spec.RunPolicy)
	}
}
