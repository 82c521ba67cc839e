// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
)

// edit returns what a command runs that patches the spec of a job with what change returns for it, nil for nothing, and prints the job.
func (s *session) edit(output *printFlags, change func(*v1.PaddleJob) (map[string]any, error)) func(*cobra.Command, []string) error {
	return s.connected(func(ctx context.Context, c *cluster.Clients, args []string) error {
		return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			job, err := cluster.Get[v1.PaddleJob](ctx, c, c.Namespace, args[0])
			if err != nil {
				return err
			}
			spec, err := change(job)
			if err != nil {
				return err
			}
			if spec == nil {
				output.operation += " (no change)" // as kubectl prints it
				return s.printJobs(output, false, *job)
			}
			patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": job.ResourceVersion}, "spec": spec})
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
}

func (s *session) suspend() *cobra.Command {
	return s.switching(true, "suspend JOB", "Delete the pods of a job and free its resources; resume starts it again", "suspended")
}

func (s *session) resume() *cobra.Command {
	return s.switching(false, "resume JOB", "Start a suspended job again, from its own checkpoints", "resumed")
}

func (s *session) switching(to bool, use, short, done string) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: s.jobNames(false)}
	cmd.RunE = s.edit(newPrint(cmd, done), func(job *v1.PaddleJob) (map[string]any, error) {
		if observed.Finished(job) {
			return nil, refused("job %s is %s: a finished job is not %s; submit it again", job.Name, job.Status.Phase, done)
		}
		if observed.SuspendSet(job) == to {
			return nil, nil
		}
		return map[string]any{"runPolicy": map[string]any{"suspend": to}}, nil
	})
	return cmd
}

func (s *session) scale() *cobra.Command {
	var workers int32
	cmd := &cobra.Command{
		Use: "scale JOB --workers N", Short: "Change how many workers a job has", ValidArgsFunction: s.jobNames(false),
		Args: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("workers") {
				return errors.New("say how many: --workers N")
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		Long: "Change how many workers a job has: of an elastic job while it trains, within its bounds; of any other before its pods have nodes.",
	}
	cmd.Flags().Int32Var(&workers, "workers", 0, "number of workers (--replicas is the same)")
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.Replace(name, "replicas", "workers", 1))
	})
	cmd.RunE = s.edit(newPrint(cmd, "scaled"), func(job *v1.PaddleJob) (map[string]any, error) {
		if job.Spec.Worker != nil && job.Spec.Worker.Replicas == workers {
			return nil, nil
		}
		if err := scalable(job, workers); err != nil {
			return nil, err
		}
		return map[string]any{"worker": map[string]any{"replicas": workers}}, nil
	})
	return cmd
}

// scalable refuses the numbers of workers that the controller would refuse.
func scalable(job *v1.PaddleJob, workers int32) error {
	if job.Spec.Worker == nil {
		return refused("job %s has no workers", job.Name)
	}
	if observed.Finished(job) {
		return refused("job %s is %s: a finished job is not scaled", job.Name, job.Status.Phase)
	}
	scaled := job.DeepCopy()
	scaled.Spec.Worker.Replicas = workers
	if errs := validation.Validate(scaled, builder.PodGroupOverrides{}, settings); len(errs) > 0 {
		return refused("job %s cannot have %d workers: %s", job.Name, workers, validation.Messages(errs))
	}
	if observed.Placed(&job.Status) && !builder.Scalable(job) {
		return refused("job %s is %s, and only an elastic job can be scaled then: one with spec.elasticPolicy.minReplicas "+
			"and maxReplicas; delete it and submit it again with %d workers", job.Name, job.Status.Phase, workers)
	}
	return nil
}

func (s *session) delete() *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete JOB...", Short: "Delete jobs with their pods", Args: cobra.MinimumNArgs(1), ValidArgsFunction: s.jobNames(true),
		Example: "  kubectl paddle delete resnet",
	}
	output := newPrint(cmd, "deleted")
	cmd.RunE = s.connected(func(ctx context.Context, c *cluster.Clients, names []string) error {
		jobs, err := read(ctx, c, "", names)
		for i := range jobs.Items {
			job := &jobs.Items[i]
			failed := c.Delete(ctx, job)
			switch {
			case failed != nil:
			case output.format == "": // the words of kubectl delete
				failed = s.say(fmt.Sprintf("paddlejob.%s %q deleted from %s namespace\n", v1.SchemeGroupVersion.Group, job.Name, job.Namespace))
			default:
				failed = s.printJobs(output, false, *job)
			}
			err = errors.Join(err, failed)
		}
		return err
	})
	return cmd
}
