// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/manifest"
)

func (s *session) submit() *cobra.Command {
	var files []string
	var dryRun string
	cmd := &cobra.Command{
		Use: "submit -f FILE", Short: "Check jobs and create them, all or none",
		Long: `Check the PaddleJobs of files, and create them: all, or none if anything is wrong with one.

Checked are names of fields, what the controller would refuse, and, without anything being created, what the
cluster's own rules say. Warnings tell what is changed or has no effect.`,
		Example: "  kubectl paddle submit -f job.yaml\n  kubectl paddle submit -f - < job.yaml\n  kubectl paddle submit -f job.yaml --dry-run",
		Args:    none,
	}
	output := newPrint(cmd, "submitted")
	cmd.Flags().StringSliceVarP(&files, "filename", "f", nil, "file of PaddleJobs, in YAML or JSON; - is the standard input")
	cmd.Flags().StringVar(&dryRun, "dry-run", "none", "check only: server asks the API server too, client asks nobody")
	cmd.Flags().Lookup("dry-run").NoOptDefVal = "server"
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case len(files) == 0:
			return usage("name a file: -f FILE, or -f - for the standard input")
		case dryRun != "none" && dryRun != "server" && dryRun != "client":
			return usage("--dry-run is %q: none, server or client", dryRun)
		}
		if err := checkFormat(output, false); err != nil {
			return err
		}
		documents, err := s.read(files)
		if err != nil {
			return err
		}
		if dryRun != "none" {
			must(output.Complete("%s (" + dryRun + " dry run)"))
		}
		made, err := s.send(cmd.Context(), documents, dryRun)
		if err != nil {
			return err
		}
		return s.printJobs(output, made)
	}
	return cmd
}

// read reads all files; what is wrong with any is in the error.
func (s *session) read(files []string) (documents []manifest.Document, err error) {
	var errs []error
	for _, name := range files {
		in, source := s.In, name
		if name == "-" {
			source = "the standard input"
		} else {
			file, err := os.Open(name) //nolint:gosec // the user names it
			if err != nil {
				return nil, err
			}
			defer file.Close() //nolint:errcheck // it was only read
			in = file
		}
		read, err := manifest.Read(in, source)
		documents = append(documents, read...)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, refused("nothing was submitted:\n%w", err)
	}
	return documents, nil
}

// send checks all jobs before it creates the first.
func (s *session) send(ctx context.Context, documents []manifest.Document, dryRun string) ([]v1.PaddleJob, error) {
	namespace, enforced, err := s.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	if err := settle(documents, namespace, enforced); err != nil {
		return nil, err
	}
	if dryRun == "client" {
		return jobsOf(documents), s.check(documents, nil)
	}
	clients, _, err := s.connect()
	if err != nil {
		return nil, err
	}
	wishes := make([]builder.PodGroupOverrides, len(documents))
	for i, d := range documents {
		wishes[i] = clients.Wish(ctx, d.Job.Namespace, d.Job.Name)
	}
	if err := s.check(documents, wishes); err != nil {
		return nil, err
	}
	var made []v1.PaddleJob
	for _, d := range documents {
		job, err := create(ctx, clients, d.Job, metav1.DryRunAll)
		if err != nil {
			return nil, fmt.Errorf("%s: job %s is refused, and nothing was submitted: %w", d.Where, d.Job.Name, err)
		}
		made = append(made, *job)
	}
	if dryRun == "server" {
		return made, nil
	}
	for i, d := range documents {
		job, err := create(ctx, clients, d.Job)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: create job %s: %w", d.Where, d.Job.Name, err), takeBack(ctx, clients, made[:i]))
		}
		made[i] = *job
	}
	return made, nil
}

func create(ctx context.Context, clients *cluster.Clients, job *v1.PaddleJob, dryRun ...string) (*v1.PaddleJob, error) {
	return clients.Paddle.BatchV1().PaddleJobs(job.Namespace).Create(ctx, job, metav1.CreateOptions{
		DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict, FieldManager: "kubectl-paddle",
	})
}

// takeBack deletes the jobs that were created before one was not.
func takeBack(ctx context.Context, clients *cluster.Clients, made []v1.PaddleJob) error {
	var errs []error
	for i := range made {
		job := &made[i]
		err := clients.Paddle.BatchV1().PaddleJobs(job.Namespace).Delete(context.WithoutCancel(ctx), job.Name,
			metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(job.UID))})
		if err != nil {
			errs = append(errs, fmt.Errorf("job %s stays, for it could not be deleted again: %w", job.Name, err))
			continue
		}
		errs = append(errs, fmt.Errorf("job %s, created just before, was deleted again", job.Name))
	}
	return errors.Join(errs...)
}

func jobsOf(documents []manifest.Document) (jobs []v1.PaddleJob) {
	for _, d := range documents {
		jobs = append(jobs, *d.Job)
	}
	return jobs
}
