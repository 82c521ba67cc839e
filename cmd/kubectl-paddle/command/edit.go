// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// edit changes a job's spec by a patch that change works out from the job as it is now; nil changes nothing.
func (s *session) edit(ctx context.Context, name string, change func(*v1.PaddleJob) (map[string]any, error)) (job *v1.PaddleJob, changed bool, err error) {
	clients, namespace, err := s.connect()
	if err != nil {
		return nil, false, err
	}
	jobs := clients.Paddle.BatchV1().PaddleJobs(namespace)
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		changed = false
		if job, err = jobs.Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		spec, err := change(job)
		if err != nil || spec == nil {
			return err
		}
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": job.ResourceVersion}, "spec": spec,
		})
		if err != nil {
			return err
		}
		job, err = jobs.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-paddle"})
		changed = err == nil
		return err
	})
	return job, changed, err
}

func (s *session) suspend() *cobra.Command {
	return s.switching(true, "suspend JOB", "Take a job's pods away, and give its room back; resume starts it anew", "suspended")
}

func (s *session) resume() *cobra.Command {
	return s.switching(false, "resume JOB", "Start a suspended job anew, from its own checkpoints", "resumed")
}

func (s *session) switching(to bool, use, short, done string) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: oneJob, ValidArgsFunction: s.jobNames(false)}
	output := newPrint(cmd, done)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkFormat(output, false); err != nil {
			return err
		}
		job, changed, err := s.edit(cmd.Context(), args[0], func(job *v1.PaddleJob) (map[string]any, error) {
			if observed.Finished(job) {
				return nil, refused("job %s is %s: one that has ended is not %s; submit it again", job.Name, job.Status.Phase, done)
			}
			run := job.Spec.RunPolicy
			if is := run != nil && run.Suspend != nil && *run.Suspend; is == to {
				return nil, nil
			}
			return map[string]any{"runPolicy": map[string]any{"suspend": to}}, nil
		})
		if err != nil {
			return err
		}
		if !changed {
			s.note("Nothing to do: job %s is %s.", job.Name, map[bool]string{true: "suspended", false: "not suspended"}[to])
		}
		return s.printObject(output, job)
	}
	return cmd
}
