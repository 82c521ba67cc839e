// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
)

// seeds returns random bytes of several lengths, the same every time.
func seeds(n int) (all [][]byte) {
	r := rand.New(rand.NewPCG(5, 5))
	for range n {
		data := make([]byte, r.IntN(300))
		for i := range data {
			data[i] = byte(r.Uint32())
			// Plain choices are worth more: what has several faults is refused for the first.
			if r.IntN(8) > 0 {
				data[i] = 0
			}
		}
		all = append(all, data)
	}
	return all
}

// corpus is how many specs every run of the tests asks about; make fuzz-controller looks for others.
const corpus = 250

func FuzzRenderedPassesTheAPIServer(f *testing.F) {
	for _, data := range seeds(corpus) {
		f.Add(data)
	}
	counts := map[string]int{}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &source{bytes: data}
		cfg, job := s.config(), s.job()
		text, err := yaml.Marshal(job)
		if err != nil {
			t.Fatal(err)
		}
		end, err := ask(t.Context(), job, cfg)
		if err != nil {
			t.Fatalf("%v\n%s\n%+v", err, text, cfg)
		}
		counts[end]++
	})
	f.Logf("jobs: %v", counts)
	if counts[accepted] == 0 && len(counts) > 0 {
		f.Error("no job was accepted, so that nothing was tested")
	}
}

// Ends of a spec's way.
const (
	refusedAtOnce = "refused by the API server"
	refused       = "refused by the controller"
	badTemplate   = "with a template that the API server refuses"
	accepted      = "accepted"
)

var dryRun = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}

// ask takes a spec the way that it takes in a cluster, and returns how far it came; an error if what was rendered is refused
// although the controller and the API server had accepted all that the user wrote.
func ask(ctx context.Context, job *v1.PaddleJob, cfg builder.Config) (end string, err error) {
	stored, err := cluster.Paddle.BatchV1().PaddleJobs(specs).Create(ctx, job, dryRun)
	if refuses(err) {
		return refusedAtOnce, nil
	}
	if err != nil {
		return "", err
	}
	if notices := validation.Validate(stored, builder.PodGroupOverrides{}, cfg); len(notices) > 0 {
		return refused, nil
	}
	for _, role := range []*v1.ResourceSpec{stored.Spec.PS, stored.Spec.Worker, stored.Spec.Heter} {
		if role == nil || role.Replicas == 0 {
			continue
		}
		if err := admits(ctx, "own", &role.Template); refuses(err) {
			return badTemplate, nil
		} else if err != nil {
			return "", err
		}
	}
	rendered, _ := builder.Job(stored, builder.PodGroupOverrides{}, cfg)
	made, err := cluster.Volcano.BatchV1alpha1().Jobs(specs).Create(ctx, rendered, dryRun)
	if err != nil {
		return "", fmt.Errorf("the Volcano Job is refused: %w", err)
	}
	group := builder.PodGroup(made)
	if _, err := cluster.Volcano.SchedulingV1beta1().PodGroups(specs).Create(ctx, group, dryRun); err != nil {
		return "", fmt.Errorf("the PodGroup is refused: %w", err)
	}
	cm := builder.ConfigMap(stored, builder.ServiceAddresses(stored), "gang", cfg)
	if _, err := cluster.Kube.CoreV1().ConfigMaps(specs).Create(ctx, cm, dryRun); err != nil {
		return "", fmt.Errorf("the ConfigMap is refused: %w", err)
	}
	for i := range made.Spec.Tasks {
		task := &made.Spec.Tasks[i]
		if err := admits(ctx, made.Name+"-"+task.Name+"-0", &task.Template); err != nil {
			return "", fmt.Errorf("the pods of %s are refused: %w", task.Name, err)
		}
	}
	return accepted, nil
}

// admits asks whether pods can be made from a template.
func admits(ctx context.Context, name string, template *corev1.PodTemplateSpec) error {
	pod := &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy()}
	pod.Namespace, pod.Name = specs, name
	_, err := cluster.Kube.CoreV1().Pods(specs).Create(ctx, pod, dryRun)
	return err
}

// refuses reports whether the API server refuses the object.
func refuses(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err)
}
