// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/util/retry"
	sigsyaml "sigs.k8s.io/yaml"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
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
	cmd.Flags().StringVar(&dryRun, "dry-run", "none", "check only: server asks the API server too, client asks no server")
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
	text, err := os.ReadFile(name) //nolint:gosec // the user names it
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the path %q does not exist", name) // as kubectl says it
	}
	return text, err
}

// readDocuments reads PaddleJobs in YAML or JSON, several of them between lines of ---. The error has all that is wrong.
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
	for _, job := range created {
		if err := clients.Delete(context.WithoutCancel(ctx), &job); err != nil {
			errs = append(errs, fmt.Errorf("job %s still exists, because it could not be deleted: %w", job.Name, err))
			continue
		}
		errs = append(errs, fmt.Errorf("job %s, created just before, was deleted", job.Name))
	}
	return errors.Join(errs...)
}

// suspend returns the command that suspends a job, or resumes it.
func (s *session) suspend(to bool, use, short, done string) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: oneJob, ValidArgsFunction: s.jobNames(false)}
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
			patch := fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q},"spec":{"runPolicy":{"suspend":%t}}}`, job.ResourceVersion, to)
			job = &v1.PaddleJob{}
			err = c.Request(http.MethodPatch, job, c.Namespace).Name(args[0]).SetHeader("Content-Type", string(types.MergePatchType)).Body(patch).
				VersionedParams(&metav1.PatchOptions{FieldManager: cluster.Manager}, cluster.Options).Do(ctx).Into(job)
			if err != nil {
				return err
			}
			return s.printJobs(output, false, *job)
		})
	})
	return cmd
}

// settings stand for those of the controller, which are not known: it may have an etcd for elastic jobs.
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

// check refuses what the controller would refuse, and prints its warnings. requested returns what the user's PodGroup requests.
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

// commandRule is about a command that is known to ignore its peers.
type commandRule struct {
	// pattern is of a command that begins with its variables and ends with the program that python runs.
	pattern *regexp.Regexp
	// applies reports whether a match among all commands of a role keeps the pods of a job from training as one; nil is always.
	applies func(job *v1.PaddleJob, all, match []string) bool
	// message follows the field. $1 and $2 are groups of the pattern.
	message string
}

const (
	assignments = `^(?:(?:env|export|\w+=\S*) )*`
	launcher    = `(?:paddle\.distributed\.(?:fleet\.)?launch|(?:^|[ /])fleetrun) (?:\S+ )*?`
	oldOptions  = `(--(?:selected_gpus?|workers|heter_workers|worker_num|heter_worker_num|http_port|legacy)) ([^-\s]\S*)`
	leftOut     = "unless it is right in every pod, they form no job; leave it out"
)

// commandRules are in the order of the warnings.
var commandRules = []commandRule{
	{
		regexp.MustCompile(assignments + `(DISTRIBUTED_TRAINER_ENDPOINTS)=`), nil,
		"sets $1: it wins over the controller's list of peers in every release of the launcher; leave it out",
	},
	{
		regexp.MustCompile(assignments + `(FLAGS_START_PORT)=`), nil,
		"sets $1: the launcher of Paddle 2.3 runs as that of 2.2 then, whose ports are not those of the pod; leave it out",
	},
	{
		regexp.MustCompile(assignments + `(PADDLE_ELASTIC_JOB_ID)=`), nil,
		"sets $1: the launcher of Paddle 2.3 runs as that of 2.2 then, which is not elastic here; leave it out",
	},
	{
		regexp.MustCompile(launcher + oldOptions), notLegacy,
		"has $1 $2: since Paddle 2.4 the launcher drops the name of such an old option and takes the value behind the space for the program " +
			"to run; write --gpus for devices, and leave others out, or write $1=$2",
	},
	{
		regexp.MustCompile(`(?:^|[ /])python[0-9.]*(?: -[^m ]\S*)* (\S+\.py)$`), notLaunched,
		"starts $1 in each worker without a launcher, and without servers the workers find each other through it alone: each trains by itself, " +
			"or fails; write python -m paddle.distributed.launch $1",
	},
	{
		regexp.MustCompile(launcher + `--master[= ]([^\s$]+:[^\s$]+)`), unequal,
		"has --master $1: the launcher ignores it, because PADDLE_TRAINER_ENDPOINTS wins, and a script that unsets that waits for a node that " +
			"does not come; leave it out, or write $$(MASTER_ADDR):$$(MASTER_PORT)",
	},
	{
		regexp.MustCompile(launcher + `--nnodes[= ]([0-9:]+)`), unequal,
		"has --nnodes $1, and the job has another number of workers: the launcher ignores it, because PADDLE_TRAINER_ENDPOINTS wins, and a script " +
			"that unsets that waits for nodes that do not come; leave it out, or write $$(NNODES)",
	},
	{setFor(`NNODES`, `paddleformers-cli|erniekit`), unequal, "sets NNODES to $1, which $2 passes on to the launcher instead of the controller's: " + leftOut},
	{setFor(`MASTER_ADDR`, `paddleformers-cli|erniekit`), unequal, "sets MASTER_ADDR to $1, which $2 passes on instead of the controller's: " + leftOut},
	{setFor(`MASTER_PORT`, `paddleformers-cli|erniekit`), unequal, "sets MASTER_PORT to $1, which $2 passes on instead of the controller's: " + leftOut},
	{setFor(`RANK`, `paddleformers-cli`), collective, "sets RANK to $1, which $2 passes on instead of the controller's: " + leftOut},
}

// setFor returns the pattern of a command that runs one of the programs with a literal value of a variable.
func setFor(name, programs string) *regexp.Regexp {
	return regexp.MustCompile(assignments + name + `=([^\s$]+) (?:\S+ )*?(?:\S*/)?(` + programs + `)(?: |$)`)
}

// notLegacy reports whether no --legacy= stands before the option, which selects the launcher that knows it.
func notLegacy(_ *v1.PaddleJob, _, match []string) bool {
	return !strings.Contains(match[0], "--legacy=")
}

// collective reports whether workers find each other through the launcher.
func collective(job *v1.PaddleJob, _, _ []string) bool { return builder.Mode(job) == v1.ModeCollective }

// unequal reports whether the number of nodes is fixed, and another one than what was found.
func unequal(job *v1.PaddleJob, all, match []string) bool {
	return collective(job, all, match) && !builder.Elastic(job) && match[1] != strconv.Itoa(int(job.Spec.Worker.Replicas))
}

var launches = regexp.MustCompile(`paddle\.distributed\.|fleetrun|paddleformers-cli|erniekit|dist_ips|\.sh\b`)

// notLaunched reports whether no command is known to start the launcher, or may do so: a shell script, or PaddleX by dist_ips.
func notLaunched(job *v1.PaddleJob, all, match []string) bool {
	return collective(job, all, match) && !slices.ContainsFunc(all, launches.MatchString)
}

// commandWarnings returns what is known to keep the commands of a job's pods, scripts aside, from finding each other.
func commandWarnings(job *v1.PaddleJob) (warnings []string) {
	for _, role := range builder.Roles(job) {
		if len(role.Spec.Template.Spec.Containers) == 0 {
			continue
		}
		all := commandsOf(&role.Spec.Template.Spec.Containers[0])
		for _, rule := range commandRules {
			for _, command := range all {
				if program, _, runs := strings.Cut(command, ".py"); runs {
					command = program + ".py"
				}
				match := rule.pattern.FindStringSubmatchIndex(command)
				if match == nil || rule.applies != nil && !rule.applies(job, all, rule.pattern.FindStringSubmatch(command)) {
					continue
				}
				text := "spec." + role.Name + ".template.spec.containers[0] " + string(rule.pattern.ExpandString(nil, rule.message, command, match))
				if !slices.Contains(warnings, text) {
					warnings = append(warnings, text)
				}
			}
		}
	}
	return warnings
}

var (
	shellText  = regexp.MustCompile(`^-[a-z]*c$`)
	separators = strings.NewReplacer("\\\n", " ", "\n", ";", "&", ";", "|", ";", `"`, "", "'", "")
	setting    = regexp.MustCompile(`^(?:export .*|\w+=\S*(?: \w+=\S*)*)$`)
)

// commandsOf returns the commands of a container, each behind the variables that are set for it. The element behind -c is the text of a
// shell, which may have several.
func commandsOf(c *corev1.Container) (all []string) {
	var variables []string
	for _, variable := range c.Env {
		variables = append(variables, variable.Name+"="+word(cmp.Or(variable.Value, "valueFrom")))
	}
	var lines strings.Builder
	elements := slices.Concat(c.Command, c.Args)
	for i, element := range elements {
		if i > 0 && shellText.MatchString(elements[i-1]) {
			lines.WriteString("\n" + strings.ReplaceAll(separators.Replace(element), ";", "\n"))
		} else {
			lines.WriteString(" " + word(element))
		}
	}
	for one := range strings.SplitSeq(lines.String(), "\n") {
		one = strings.Join(strings.Fields(one), " ")
		switch {
		case setting.MatchString(one):
			variables = append(variables, one)
		case one != "" && !strings.HasPrefix(one, "#"):
			all = append(all, strings.Join(append(variables, one), " "))
		}
	}
	if len(all) == 0 {
		all = append(all, strings.Join(variables, " "))
	}
	return all
}

// word returns a text without the blanks in it.
func word(text string) string { return strings.Join(strings.Fields(text), "_") }
