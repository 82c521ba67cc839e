// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

func (s *session) suspend() *cobra.Command {
	return s.switching(true, "suspend JOB", "Delete the pods of a job and free its resources; resume starts it again", "suspended")
}

func (s *session) resume() *cobra.Command {
	return s.switching(false, "resume JOB", "Start a suspended job again, from its own checkpoints", "resumed")
}

func (s *session) switching(to bool, use, short, done string) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: s.jobNames(false)}
	output := newPrint(cmd, done)
	cmd.RunE = s.connected(func(ctx context.Context, c *cluster.Clients, args []string) error {
		return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			job, err := cluster.Get[v1.PaddleJob](ctx, c, c.Namespace, args[0])
			switch {
			case err != nil:
				return err
			case observed.Finished(job):
				return refused("job %s is %s: a finished job is not %s; submit it again", job.Name, job.Status.Phase, done)
			case observed.SuspendSet(job) == to:
				output.operation += " (no change)" // as kubectl prints it
				return s.printJobs(output, false, *job)
			}
			patch, err := json.Marshal(map[string]any{
				"metadata": map[string]any{"resourceVersion": job.ResourceVersion},
				"spec":     map[string]any{"runPolicy": map[string]any{"suspend": to}},
			})
			if err != nil {
				return err
			}
			job = &v1.PaddleJob{}
			err = c.Jobs(http.MethodPatch, c.Namespace).Name(args[0]).SetHeader("Content-Type", string(types.MergePatchType)).Body(patch).
				VersionedParams(&metav1.PatchOptions{FieldManager: cluster.Manager}, cluster.Options).Do(ctx).Into(job)
			if err != nil {
				return err
			}
			return s.printJobs(output, false, *job)
		})
	})
	return cmd
}
