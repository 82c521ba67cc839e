// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned/typed/batch/v1"
)

// gonePoll is how often it is looked whether a job is gone.
const gonePoll = 200 * time.Millisecond

func (s *session) delete() *cobra.Command {
	var awaited bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "delete JOB...", Short: "Delete jobs with all that belongs to them, and wait until it is gone", ValidArgsFunction: s.jobNames(true),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("name the jobs to delete")
			}
			return nil
		},
	}
	output := newPrint(cmd, "deleted")
	cmd.Flags().BoolVar(&awaited, "wait", true, "wait until the jobs and their pods are gone")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "wait so long at most; 0 waits as long as it takes")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkFormat(output, false); err != nil {
			return err
		}
		clients, namespace, err := s.connect()
		if err != nil {
			return err
		}
		jobs := clients.Paddle.BatchV1().PaddleJobs(namespace)
		gone := make([]*v1.PaddleJob, 0, len(args))
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
			gone = append(gone, job)
		}
		ctx := cmd.Context()
		if timeout > 0 {
			var stop context.CancelFunc
			ctx, stop = context.WithTimeout(ctx, timeout)
			defer stop()
		}
		var deleted []v1.PaddleJob
		for _, job := range gone {
			if awaited {
				if err := awaitGone(ctx, jobs, job); err != nil {
					errs = append(errs, fmt.Errorf("job %s is being deleted, and not gone yet: %w", job.Name, err))
					continue
				}
			}
			deleted = append(deleted, *job)
		}
		if len(deleted) > 0 {
			errs = append(errs, s.printJobs(output, deleted))
		}
		return errors.Join(errs...)
	}
	return cmd
}

// awaitGone waits until a job is gone; another of its name is another.
func awaitGone(ctx context.Context, jobs paddleclient.PaddleJobInterface, job *v1.PaddleJob) error {
	return wait.PollUntilContextCancel(ctx, gonePoll, true, func(ctx context.Context) (bool, error) {
		fresh, err := jobs.Get(ctx, job.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return err == nil && fresh.UID != job.UID, err
	})
}
