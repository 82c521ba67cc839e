// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

func (s *session) scale() *cobra.Command {
	var workers int
	cmd := &cobra.Command{
		Use: "scale JOB --workers N", Short: "Change how many workers a job has", Args: oneJob, ValidArgsFunction: s.jobNames(false),
		Long: "Change how many workers a job has: of an elastic job while it trains, within its bounds; of any other before its pods have nodes.",
	}
	output := newPrint(cmd, "scaled")
	cmd.Flags().IntVar(&workers, "workers", 0, "so many workers")
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

// scalable refuses numbers of workers that the controller would.
func scalable(job *v1.PaddleJob, workers int) error {
	if job.Spec.Worker == nil {
		return refused("job %s has no workers", job.Name)
	}
	if observed.Finished(job) {
		return refused("job %s is %s: one that has ended is not scaled", job.Name, job.Status.Phase)
	}
	scaled := job.DeepCopy()
	scaled.Spec.Worker.Replicas = workers
	var errs []error
	for _, n := range builder.Validate(scaled, builder.PodGroupOverrides{}, settings) {
		errs = append(errs, fmt.Errorf("%s (%s)", n.Message, n.Reason))
	}
	if len(errs) > 0 {
		return refused("job %s cannot have %d workers: %w", job.Name, workers, errors.Join(errs...))
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
