// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/util/retry"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
)

// edit patches the spec of a job with what change returns for the job as it is now, and prints the job; nil changes nothing.
func (s *session) edit(ctx context.Context, output *printFlags, name string, change func(*v1.PaddleJob) (map[string]any, error)) error {
	if err := output.check(false); err != nil {
		return err
	}
	clients, namespace, err := s.connect()
	if err != nil {
		return err
	}
	var job *v1.PaddleJob
	changed := false
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if job, err = cluster.Get[v1.PaddleJob](ctx, clients, namespace, name); err != nil {
			return err
		}
		spec, err := change(job)
		if changed = spec != nil; err != nil || !changed {
			return err
		}
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": job.ResourceVersion}, "spec": spec,
		})
		if err != nil {
			return err
		}
		job, err = clients.Patch(ctx, namespace, name, patch)
		return err
	})
	if err != nil {
		return err
	}
	if !changed {
		output.operation += " (no change)" // as kubectl prints it
	}
	return s.printJobs(output, false, *job)
}

func (s *session) suspend() *cobra.Command {
	return s.switching(true, "suspend JOB", "Delete the pods of a job and free its resources; resume starts it again", "suspended")
}

func (s *session) resume() *cobra.Command {
	return s.switching(false, "resume JOB", "Start a suspended job again, from its own checkpoints", "resumed")
}

func (s *session) switching(to bool, use, short, done string) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: oneJob, ValidArgsFunction: s.jobNames(false)}
	output := newPrint(cmd, done)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return s.edit(cmd.Context(), output, args[0], func(job *v1.PaddleJob) (map[string]any, error) {
			if observed.Finished(job) {
				return nil, refused("job %s is %s: one that has ended is not %s; submit it again", job.Name, job.Status.Phase, done)
			}
			run := job.Spec.RunPolicy
			if is := run != nil && run.Suspend != nil && *run.Suspend; is == to {
				return nil, nil
			}
			return map[string]any{"runPolicy": map[string]any{"suspend": to}}, nil
		})
	}
	return cmd
}

func (s *session) scale() *cobra.Command {
	var workers int32
	cmd := &cobra.Command{
		Use: "scale JOB --workers N", Short: "Change how many workers a job has", Args: oneJob, ValidArgsFunction: s.jobNames(false),
		Long: "Change how many workers a job has: of an elastic job while it trains, within its bounds; of any other before its pods have nodes.",
	}
	output := newPrint(cmd, "scaled")
	cmd.Flags().Int32Var(&workers, "workers", 0, "number of workers (--replicas is the same)")
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.Replace(name, "replicas", "workers", 1))
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("workers") {
			return usage("say how many: --workers N")
		}
		return s.edit(cmd.Context(), output, args[0], func(job *v1.PaddleJob) (map[string]any, error) {
			if job.Spec.Worker != nil && job.Spec.Worker.Replicas == workers {
				return nil, nil
			}
			if err := scalable(job, workers); err != nil {
				return nil, err
			}
			return map[string]any{"worker": map[string]any{"replicas": workers}}, nil
		})
	}
	return cmd
}

// scalable refuses the numbers of workers that the controller would refuse.
func scalable(job *v1.PaddleJob, workers int32) error {
	if job.Spec.Worker == nil {
		return refused("job %s has no workers", job.Name)
	}
	if observed.Finished(job) {
		return refused("job %s is %s: one that has ended is not scaled", job.Name, job.Status.Phase)
	}
	scaled := job.DeepCopy()
	scaled.Spec.Worker.Replicas = workers
	if errs := validation.Validate(scaled, builder.PodGroupOverrides{}, settings); len(errs) > 0 {
		return refused("job %s cannot have %d workers: %s", job.Name, workers, validation.Messages(errs))
	}
	switch job.Status.Phase {
	case v1.Starting, v1.Running, v1.Restarting:
		if !builder.Scalable(job) {
			return refused("job %s is %s, and only an elastic job can be scaled then: one with spec.elasticPolicy.minReplicas "+
				"and maxReplicas; delete it and submit it again with %d workers", job.Name, job.Status.Phase, workers)
		}
	}
	return nil
}

func (s *session) delete() *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete JOB...", Short: "Delete jobs with their pods", Args: someJobs, ValidArgsFunction: s.jobNames(true),
		Example: "  kubectl paddle delete resnet",
	}
	output := newPrint(cmd, "deleted")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := output.check(false); err != nil {
			return err
		}
		clients, namespace, err := s.connect()
		if err != nil {
			return err
		}
		jobs, err := read(cmd.Context(), clients, namespace, "", args)
		for i := range jobs.Items {
			if failed := clients.Delete(cmd.Context(), &jobs.Items[i]); failed != nil {
				err = errors.Join(err, failed)
				continue
			}
			err = errors.Join(err, s.printJobs(output, false, jobs.Items[i]))
		}
		return err
	}
	return cmd
}
