// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/manifest"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
)

func (s *session) submit() *cobra.Command {
	var files []string
	var dryRun string
	cmd := &cobra.Command{
		Use: "submit -f FILE", Short: "Check jobs and create them, all or none",
		Long: `Check the PaddleJobs of files, and create them: all, or none if anything is wrong with one.

Checked are names of fields, what the controller would refuse, and, without anything being created, what the
cluster's own rules say. Warnings name what is changed or has no effect.`,
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
		created, err := s.send(cmd.Context(), documents, dryRun)
		if err != nil {
			return err
		}
		return s.printJobs(output, created)
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
	namespace, enforced, err := s.namespace()
	if err != nil {
		return nil, err
	}
	if err := setNamespaces(documents, namespace, enforced); err != nil {
		return nil, err
	}
	if dryRun == "client" {
		return jobsOf(documents), s.check(documents, func(*v1.PaddleJob) *vcscheduling.PodGroup { return nil })
	}
	clients, _, err := s.connect()
	if err != nil {
		return nil, err
	}
	err = s.check(documents, func(job *v1.PaddleJob) *vcscheduling.PodGroup {
		return clients.OwnPodGroup(ctx, job.Namespace, job.Name)
	})
	if err != nil {
		return nil, err
	}
	var created []v1.PaddleJob
	for _, d := range documents {
		job, err := create(ctx, clients, d.Job, metav1.DryRunAll)
		if err != nil {
			return nil, fmt.Errorf("%s: job %s is refused, and nothing was submitted: %w", d.Where, d.Job.Name, err)
		}
		created = append(created, *job)
	}
	if dryRun == "server" {
		return created, nil
	}
	for i, d := range documents {
		job, err := create(ctx, clients, d.Job)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: create job %s: %w", d.Where, d.Job.Name, err), deleteCreated(ctx, clients, created[:i]))
		}
		created[i] = *job
	}
	return created, nil
}

func create(ctx context.Context, clients *cluster.Clients, job *v1.PaddleJob, dryRun ...string) (*v1.PaddleJob, error) {
	return clients.Paddle.BatchV1().PaddleJobs(job.Namespace).Create(ctx, job, metav1.CreateOptions{
		DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict, FieldManager: "kubectl-paddle",
	})
}

// deleteCreated deletes the jobs that were created before one was not.
func deleteCreated(ctx context.Context, clients *cluster.Clients, created []v1.PaddleJob) error {
	var errs []error
	for i := range created {
		job := &created[i]
		err := clients.Paddle.BatchV1().PaddleJobs(job.Namespace).Delete(context.WithoutCancel(ctx), job.Name,
			metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(job.UID))})
		if err != nil {
			errs = append(errs, fmt.Errorf("job %s still exists, because it could not be deleted: %w", job.Name, err))
			continue
		}
		errs = append(errs, fmt.Errorf("job %s, created just before, was deleted", job.Name))
	}
	return errors.Join(errs...)
}

func jobsOf(documents []manifest.Document) (jobs []v1.PaddleJob) {
	for _, d := range documents {
		jobs = append(jobs, *d.Job)
	}
	return jobs
}

// settings stand for those of the controller, which are not known: it may have an etcd for elastic jobs. What it refuses beyond
// these is in the job's condition Stalled.
var settings = builder.Config{ElasticEtcd: "unknown:2379"}

// setNamespaces gives each job its namespace, and refuses two jobs of one name.
func setNamespaces(documents []manifest.Document, namespace string, enforced bool) error {
	where := map[string]string{}
	for _, d := range documents {
		switch {
		case d.Job.Namespace == "":
			d.Job.Namespace = namespace
		case enforced && d.Job.Namespace != namespace:
			return usage("%s: job %s is for namespace %s, and --namespace is %s: leave one out", d.Where, d.Job.Name, d.Job.Namespace, namespace)
		}
		if d.Job.Name == "" {
			continue
		}
		key := d.Job.Namespace + "/" + d.Job.Name
		if before, ok := where[key]; ok {
			return refused("nothing was submitted: %s and %s are both called %s", before, d.Where, key)
		}
		where[key] = d.Where
	}
	return nil
}

// check refuses what the controller would refuse, and prints the controller's warnings. own returns the PodGroup of the user's own
// for a job, or nil.
func (s *session) check(documents []manifest.Document, own func(*v1.PaddleJob) *vcscheduling.PodGroup) error {
	var errs []error
	for _, d := range documents {
		job := named(d.Job)
		requested := plan.Requested(own(d.Job))
		for _, err := range validation.Validate(job, requested, settings) {
			errs = append(errs, fmt.Errorf("%s: job %s: %w", d.Where, job.Name, err))
		}
		if len(errs) > 0 {
			continue
		}
		_, warnings := builder.Job(job, requested, settings)
		for _, n := range warnings {
			s.note("Warning: job %s: %s (%s)", job.Name, n.Message, n.Reason)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return refused("nothing was submitted:\n%w", err)
	}
	return nil
}

// named returns a job with the name that the API server completes.
func named(job *v1.PaddleJob) *v1.PaddleJob {
	job = job.DeepCopy()
	if job.Name == "" && job.GenerateName != "" {
		job.Name = job.GenerateName + "xxxxx"
	}
	return job
}
