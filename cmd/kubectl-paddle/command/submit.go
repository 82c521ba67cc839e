// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
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
cluster's own rules say. Warnings name what is changed or has no effect, and commands that are known to ignore their peers.`,
		Example: "  kubectl paddle submit -f job.yaml\n  kubectl paddle submit -f - < job.yaml\n  kubectl paddle submit -f job.yaml --dry-run",
		Args:    cobra.NoArgs,
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
		documents, err := s.read(files)
		if err != nil {
			return err
		}
		if dryRun != "none" {
			output.operation += " (" + dryRun + " dry run)"
		}
		created, err := s.send(cmd.Context(), documents, dryRun)
		if err != nil {
			return err
		}
		return s.printJobs(output, false, created...)
	}
	return cmd
}

// document is a PaddleJob and the place of its text.
type document struct {
	job   *v1.PaddleJob
	where string
}

// read reads all files; what is wrong with any is in the error.
func (s *session) read(files []string) (documents []document, err error) {
	var errs []error
	for _, name := range files {
		text, err := s.readFile(name)
		if err != nil {
			return nil, err
		}
		if name == "-" {
			name = "the standard input"
		}
		read, err := readDocuments(text, name)
		documents = append(documents, read...)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, refused("nothing was submitted:\n%v", err)
	}
	return documents, nil
}

// readFile reads a file, or the standard input for -.
func (s *session) readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(s.In)
	}
	return os.ReadFile(name) //nolint:gosec // the user names it
}

// readDocuments reads PaddleJobs in YAML or JSON, several of them between lines of ---. Unknown fields are errors. The error has all
// that is wrong.
func readDocuments(file []byte, source string) (documents []document, err error) {
	decoder := json.NewSerializerWithOptions(json.DefaultMetaFactory, cluster.Scheme, cluster.Scheme, json.SerializerOptions{Yaml: true, Strict: true})
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(file)))
	var errs []error
	for {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", source, err)
		}
		var content any
		if sigsyaml.Unmarshal(text, &content) == nil && content == nil {
			continue // nothing but comments
		}
		where := source
		if n := len(documents) + len(errs); n > 0 {
			where = fmt.Sprintf("%s, document %d", source, n+1)
		}
		object, kind, err := decoder.Decode(text, nil, nil)
		job, ok := object.(*v1.PaddleJob)
		switch {
		case runtime.IsNotRegisteredError(err) || err == nil && !ok:
			err = fmt.Errorf("it is a %s of %s, and only PaddleJobs of %s are submitted here: use kubectl create -f for it", kind.Kind, kind.GroupVersion(), v1.SchemeGroupVersion)
		case runtime.IsMissingKind(err), runtime.IsMissingVersion(err):
			err = fmt.Errorf("no apiVersion or no kind: a PaddleJob begins with apiVersion: %s and kind: PaddleJob", v1.SchemeGroupVersion)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", where, err))
			continue
		}
		documents = append(documents, document{job, where})
	}
	if len(errs) == 0 && len(documents) == 0 {
		return nil, fmt.Errorf("%s holds no PaddleJob: it is empty", source)
	}
	return documents, errors.Join(errs...)
}

// send checks all jobs before it creates the first.
func (s *session) send(ctx context.Context, documents []document, dryRun string) ([]v1.PaddleJob, error) {
	namespace, enforced, err := s.namespace()
	if err != nil {
		return nil, err
	}
	if err := setNamespaces(documents, namespace, enforced); err != nil {
		return nil, err
	}
	if dryRun == "client" {
		var jobs []v1.PaddleJob
		for _, d := range documents {
			jobs = append(jobs, *d.job)
		}
		return jobs, s.check(documents, func(*v1.PaddleJob) builder.PodGroupOverrides { return builder.PodGroupOverrides{} })
	}
	clients, err := s.connect()
	if err != nil {
		return nil, err
	}
	err = s.check(documents, func(job *v1.PaddleJob) builder.PodGroupOverrides {
		group, err := cluster.Get[vcscheduling.PodGroup](ctx, clients, job.Namespace, job.Name)
		if err != nil { // the user may not read it, but the controller does
			return builder.PodGroupOverrides{}
		}
		return plan.Requested(job, group)
	})
	if err != nil {
		return nil, err
	}
	var created []v1.PaddleJob
	for _, d := range documents {
		job, err := clients.Create(ctx, d.job, metav1.DryRunAll)
		if err != nil {
			return nil, fmt.Errorf("%s: job %s is refused, and nothing was submitted: %w", d.where, d.job.Name, err)
		}
		created = append(created, *job)
	}
	if dryRun == "server" {
		return created, nil
	}
	for i, d := range documents {
		job, err := clients.Create(ctx, d.job)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: create job %s: %w", d.where, d.job.Name, err), deleteCreated(ctx, clients, created[:i]))
		}
		created[i] = *job
	}
	return created, nil
}

// deleteCreated deletes the jobs that were created before one was not.
func deleteCreated(ctx context.Context, clients *cluster.Clients, created []v1.PaddleJob) error {
	var errs []error
	for i := range created {
		job := &created[i]
		if err := clients.Delete(context.WithoutCancel(ctx), job); err != nil {
			errs = append(errs, fmt.Errorf("job %s still exists, because it could not be deleted: %w", job.Name, err))
			continue
		}
		errs = append(errs, fmt.Errorf("job %s, created just before, was deleted", job.Name))
	}
	return errors.Join(errs...)
}

// settings stand for those of the controller, which are not known: it may have an etcd for elastic jobs. What it refuses beyond
// these is in the job's condition Stalled.
var settings = builder.Config{ElasticEtcd: "unknown:2379"}

func nameOf(job *v1.PaddleJob) string { return job.Namespace + "/" + job.Name }

// setNamespaces gives each job its namespace, and refuses two jobs of one name.
func setNamespaces(documents []document, namespace string, enforced bool) error {
	where := map[string]string{}
	for _, d := range documents {
		switch {
		case d.job.Namespace == "":
			d.job.Namespace = namespace
		case enforced && d.job.Namespace != namespace:
			return usage("%s: job %s is for namespace %s, and --namespace is %s: remove one of the two", d.where, d.job.Name, d.job.Namespace, namespace)
		}
		if before, ok := where[nameOf(d.job)]; ok && d.job.Name != "" {
			return refused("nothing was submitted: %s and %s are both called %s", before, d.where, nameOf(d.job))
		}
		where[nameOf(d.job)] = d.where
	}
	return nil
}

// check refuses what the controller would refuse, and prints the controller's warnings. requested returns what a PodGroup of the
// user's own requests for a job.
func (s *session) check(documents []document, requested func(*v1.PaddleJob) builder.PodGroupOverrides) error {
	var errs []error
	for _, d := range documents {
		job := named(d.job)
		overrides := requested(job)
		for _, err := range validation.Validate(job, overrides, settings) {
			errs = append(errs, fmt.Errorf("%s: job %s: %w", d.where, job.Name, err))
		}
		if len(errs) > 0 {
			continue
		}
		_, warnings := builder.Job(job, overrides, settings)
		for _, n := range warnings {
			s.note("Warning: job %s: %s (%s)", job.Name, n.Message, n.Reason)
		}
		for _, text := range commandWarnings(job) {
			s.note("Warning: job %s: %s", job.Name, text)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return refused("nothing was submitted:\n%v", err)
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
