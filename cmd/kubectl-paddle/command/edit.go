// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned/typed/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
)

// edit patches the spec of a job with what change returns for the job as it is now; nil changes nothing.
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
	return s.switching(true, "suspend JOB", "Delete the pods of a job and free its resources; resume starts it again", "suspended")
}

func (s *session) resume() *cobra.Command {
	return s.switching(false, "resume JOB", "Start a suspended job again, from its own checkpoints", "resumed")
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

func (s *session) scale() *cobra.Command {
	var workers int32
	cmd := &cobra.Command{
		Use: "scale JOB --workers N", Short: "Change how many workers a job has", Args: oneJob, ValidArgsFunction: s.jobNames(false),
		Long: "Change how many workers a job has: of an elastic job while it trains, within its bounds; of any other before its pods have nodes.",
	}
	output := newPrint(cmd, "scaled")
	cmd.Flags().Int32Var(&workers, "workers", 0, "so many workers")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("workers") {
			return usage("say how many: --workers N")
		}
		if err := checkFormat(output, false); err != nil {
			return err
		}
		job, changed, err := s.edit(cmd.Context(), args[0], func(job *v1.PaddleJob) (map[string]any, error) {
			if job.Spec.Worker != nil && job.Spec.Worker.Replicas == workers {
				return nil, nil
			}
			if err := scalable(job, workers); err != nil {
				return nil, err
			}
			return map[string]any{"worker": map[string]any{"replicas": workers}}, nil
		})
		if err != nil {
			return err
		}
		if !changed {
			s.note("Nothing to do: job %s has %d workers.", job.Name, workers)
		}
		return s.printObject(output, job)
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
			return refused("job %s is %s, and only an elastic job can be scaled then: one with spec.elastic, spec.worker.requests and "+
				"spec.worker.limits; delete it and submit it again with %d workers", job.Name, job.Status.Phase, workers)
		}
	}
	return nil
}

// deletionPoll is how often delete looks whether a job still exists.
const deletionPoll = 200 * time.Millisecond

func (s *session) delete() *cobra.Command {
	var awaited bool
	cmd := &cobra.Command{
		Use: "delete JOB...", Short: "Delete jobs and their objects, and wait until they are deleted", ValidArgsFunction: s.jobNames(true),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("name the jobs to delete")
			}
			return nil
		},
	}
	output := newPrint(cmd, "deleted")
	cmd.Flags().BoolVar(&awaited, "wait", true, "wait until the jobs and their pods are deleted")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkFormat(output, false); err != nil {
			return err
		}
		clients, namespace, err := s.connect()
		if err != nil {
			return err
		}
		jobs := clients.Paddle.BatchV1().PaddleJobs(namespace)
		var deleted []v1.PaddleJob
		var errs []error
		for _, name := range args {
			job, err := jobs.Get(cmd.Context(), name, metav1.GetOptions{})
			if err == nil {
				err = jobs.Delete(cmd.Context(), name, metav1.DeleteOptions{
					Preconditions: metav1.NewUIDPreconditions(string(job.UID)), PropagationPolicy: ptr.To(metav1.DeletePropagationForeground),
				})
			}
			if err != nil {
				errs = append(errs, err)
				continue
			}
			deleted = append(deleted, *job)
		}
		for i := range deleted {
			if awaited {
				errs = append(errs, awaitDeletion(cmd.Context(), jobs, &deleted[i]))
			}
		}
		if len(deleted) > 0 {
			errs = append(errs, s.printJobs(output, deleted))
		}
		return errors.Join(errs...)
	}
	return cmd
}

// awaitDeletion waits until a job does not exist; another one of its name may.
func awaitDeletion(ctx context.Context, jobs paddleclient.PaddleJobInterface, job *v1.PaddleJob) error {
	err := wait.PollUntilContextCancel(ctx, deletionPoll, true, func(ctx context.Context) (bool, error) {
		fresh, err := jobs.Get(ctx, job.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return err == nil && fresh.UID != job.UID, err
	})
	if err != nil {
		return fmt.Errorf("job %s is being deleted: %w", job.Name, err)
	}
	return nil
}
