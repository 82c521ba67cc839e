// SPDX-License-Identifier: Apache-2.0

// Package migrate finds what changes if the controller takes over the PaddleJobs of paddle-operator: the outcome for each job, by the
// controller's own rules, and the steps of the migration. It makes no API calls.
package migrate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// Outcome is what the controller does with a job.
type Outcome string

// Outcomes.
const (
	AlreadyManaged Outcome = "AlreadyManaged" // the controller runs it
	Finished       Outcome = "Finished"       // the job is Completed or Failed
	KeepsRunning   Outcome = "KeepsRunning"   // its pods finish as they were started
	Restarts       Outcome = "Restarts"       // its pods are deleted, and Volcano creates others
	Starts         Outcome = "Starts"         // it has no pods yet, and Volcano creates them
	StaysSuspended Outcome = "StaysSuspended"
	Deleting       Outcome = "Deleting"
	// Refused jobs do not run until their spec, or the cluster, is changed. Their pods are deleted if they cannot finish.
	Refused Outcome = "Refused"
)

// Words returns the outcome in words, such as "keeps running".
func (o Outcome) Words() string {
	return strings.ToLower(capital.ReplaceAllString(string(o), "$1 $2"))
}

var capital = regexp.MustCompile("([a-z])([A-Z])")

// Assessment is what would become of one job.
type Assessment struct {
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Outcome   Outcome `json:"outcome"`
	// Message explains the outcome, and Notes are other differences.
	Message string   `json:"message"`
	Notes   []string `json:"notes,omitempty"`
}

// Assess returns what the controller would do with a job that it sees for the first time.
func Assess(seen *observed.State, cfg builder.Config) Assessment {
	job := seen.Job
	plan := lifecycle.Decide(seen, cfg)
	a := Assessment{Namespace: job.Namespace, Name: job.Name}
	switch {
	case job.DeletionTimestamp != nil:
		a.Outcome, a.Message = Deleting, "it is being deleted; paddle-operator's finalizer is removed"
	case seen.VolcanoJob != nil:
		a.Outcome, a.Message = AlreadyManaged, "the controller runs it already"
	case observed.Finished(job):
		a.Outcome, a.Message = Finished, "it has finished, and stays so"
		if slices.ContainsFunc(plan.Actions, func(a lifecycle.Action) bool { _, deletes := a.(lifecycle.Delete); return deletes }) {
			a.Message += "; what paddle-operator left of it is deleted"
		}
	case plan.Suspended != nil:
		a.Outcome, a.Message = StaysSuspended, "it is suspended and stays so"
	case plan.Waiting != nil && plan.Waiting.Reason == lifecycle.ReasonTakingOver:
		a.restart(seen, cfg)
	case plan.Stalled != nil:
		a.refuse(plan.Stalled)
	case seen.Operator.Empty():
		a.Outcome, a.Message = Starts, fmt.Sprintf("it has no pods yet: Volcano creates its %d pods, and places all of them together", builder.Total(job))
		a.note(plan.Warnings)
	default:
		a.Outcome, a.Message = KeepsRunning, fmt.Sprintf("its %d pods keep running until they end, as paddle-operator started them",
			len(seen.Operator.Pods))
	}
	if plan.Waiting != nil && plan.Waiting.Reason != lifecycle.ReasonTakingOver {
		a.note([]builder.Cause{*plan.Waiting})
	}
	return a
}

// restart fills in a job whose pods cannot finish, and what follows.
func (a *Assessment) restart(seen *observed.State, cfg builder.Config) {
	a.Outcome = Restarts
	a.Message = fmt.Sprintf("a pod is missing or has failed, or the addresses are not known: "+
		"its %d pods are deleted, and Volcano starts the job again", len(seen.Operator.Pods))
	after := *seen
	after.Operator, after.Environment = observed.Operator{}, nil
	plan := lifecycle.Decide(&after, cfg)
	if plan.Stalled != nil {
		a.refuse(plan.Stalled)
		a.Message = fmt.Sprintf("its %d pods cannot finish and are deleted, and then %s", len(seen.Operator.Pods), a.Message)
	}
	a.note(plan.Warnings)
}

func (a *Assessment) refuse(why *builder.Cause) {
	a.Outcome, a.Message = Refused, fmt.Sprintf("it does not run (%s): %s", why.Reason, why.Message)
}

func (a *Assessment) note(all []builder.Cause) {
	for _, n := range all {
		a.Notes = append(a.Notes, n.Reason+": "+n.Message)
	}
}

// Cluster is what a cluster has of paddle-operator, of the controller and of Volcano.
type Cluster struct {
	// Operators are the Deployments of paddle-operator 0.2 to 0.3.5, which run PaddleJobs.
	Operators []appsv1.Deployment
	// TrainingJobOperators are the Deployments of paddle-operator 0.1, which run TrainingJobs.
	TrainingJobOperators []appsv1.Deployment
	// Controllers are the Deployments of the controller.
	Controllers []appsv1.Deployment
	// API reports whether the cluster has the CRD of PaddleJobs, and CurrentAPI whether the CRD has the controller's fields.
	API, CurrentAPI bool
	// Volcano reports whether the cluster has the CRD of Volcano Jobs.
	Volcano bool
}

// Step is something that an administrator has to do. Not every step has a command.
type Step struct {
	Do      string `json:"do"`
	Command string `json:"command,omitempty"`
}

// Commands that deploy/docs/how-to/migrate.md gives too.
const (
	forget = "kubectl delete secret,configmap --namespace %s --selector owner=helm,name=%s"
	remove = "kubectl delete --namespace %s --cascade=foreground --ignore-not-found %s"
	update = "kubectl apply --server-side --force-conflicts -f deploy/v1/crd.yaml"
	byHelm = "hack/helm.sh install paddle deploy/helm/paddle-volcano --namespace paddle-system --create-namespace --take-ownership" +
		" --set image.registry=registry.example.com/paddle"
	byKubectl = "kubectl apply --server-side -f deploy/v1/namespace.yaml && " +
		"sed 's|registry.invalid|registry.example.com/paddle|' deploy/v1/operator.yaml | kubectl apply --server-side -f -"
)

// parts are the objects of paddle-operator's releases besides its Deployment, CRD and Namespace. The controller has none of these names.
var parts = []string{
	"serviceaccount/paddle-manager-sa", "configmap/paddle-manager-config", "service/paddle-controller-manager-metrics-service",
	"role/paddle-leader-election-role", "rolebinding/paddle-leader-election-rolebinding",
	"clusterrole/paddle-manager-role", "clusterrolebinding/paddle-manager-rolebinding",
	"clusterrole/paddle-proxy-role", "clusterrolebinding/paddle-proxy-rolebinding", "clusterrole/paddle-metrics-reader",
}

// Steps are what an administrator has to do, in this order.
func (c *Cluster) Steps() []Step {
	var steps []Step
	if !c.Volcano {
		steps = append(steps, Step{Do: "Install Volcano 1.14: the controller runs each PaddleJob as a Volcano Job."})
	}
	install := byKubectl
	for _, d := range c.Operators {
		if release := d.Annotations["meta.helm.sh/release-name"]; release != "" {
			install = byHelm
			steps = append(steps, Step{Do: fmt.Sprintf("Do not run helm uninstall %s: it deletes the CRD, the Namespace and all jobs. "+
				"Delete only Helm's record of the release:", release), Command: fmt.Sprintf(forget, d.Annotations["meta.helm.sh/release-namespace"], release)})
		}
		steps = append(steps, Step{Do: "Delete paddle-operator, but not its CRD and its Namespace. Jobs keep running:", Command: deleting(&d, parts...)})
	}
	switch {
	case !c.API:
		steps = append(steps, Step{Do: "Install the CRD:", Command: update})
	case !c.CurrentAPI:
		steps = append(steps, Step{Do: "Update the CRD. No PaddleJob changes:", Command: update})
	}
	if len(c.Controllers) == 0 {
		steps = append(steps, Step{Do: "Install the controller, with your registry (deploy/docs/how-to/migrate.md has the commands for Helm and for kubectl):", Command: install})
	}
	for i := range c.TrainingJobOperators {
		steps = append(steps, Step{Do: "paddle-operator 0.1 runs TrainingJobs, which the controller does not run. When you need them no more, delete it:",
			Command: deleting(&c.TrainingJobOperators[i], "clusterrolebinding/paddle-operator-default-admin")})
	}
	return steps
}

// deleting is the command that deletes a Deployment, waits until its pods are gone, and deletes other objects.
func deleting(d *appsv1.Deployment, others ...string) string {
	return fmt.Sprintf(remove, d.Namespace, strings.Join(slices.Concat([]string{"deployment/" + d.Name}, others), " "))
}

// Runs reports whether a Deployment has replicas.
func Runs(d appsv1.Deployment) bool { return d.Spec.Replicas == nil || *d.Spec.Replicas > 0 }

// Warnings are what is dangerous as it is now.
func (c *Cluster) Warnings() []string {
	if slices.ContainsFunc(c.Operators, Runs) && len(c.Controllers) > 0 {
		return []string{"paddle-operator and the controller run at the same time, and both create pods for the same jobs. Delete paddle-operator now."}
	}
	return nil
}

// The names of the images, in any registry. paddle-operator's is paddle-operator/controller up to 0.3.0, and paddlecloud/controller from
// 0.3.1 on.
var (
	operatorImage   = regexp.MustCompile(`(^|/)(paddle-operator|paddlecloud)/controller([:@]|$)`)
	controllerImage = regexp.MustCompile(`(^|/)paddlejob-controller([:@]|$)`)
)

// Sort adds a Deployment to those of its kind. Deployments of other programs are left out.
func (c *Cluster) Sort(d *appsv1.Deployment) {
	for i := range d.Spec.Template.Spec.Containers {
		switch container := &d.Spec.Template.Spec.Containers[i]; {
		case controllerImage.MatchString(container.Image):
			c.Controllers = append(c.Controllers, *d)
			return
		case isOperator(d, container):
			c.Operators = append(c.Operators, *d)
			return
		case isTrainingJobOperator(d, container):
			c.TrainingJobOperators = append(c.TrainingJobOperators, *d)
			return
		}
	}
}

// isOperator reports whether a container is paddle-operator 0.2 to 0.3.5. In a company's registry its image may have another name, and
// its command and its label are those of every operator that kubebuilder generates. Then its ServiceAccount identifies it (from 0.3.1
// on), or its name, unless its ServiceAccount is dedicated to it, as the controller's is (up to 0.3.0).
func isOperator(d *appsv1.Deployment, c *corev1.Container) bool {
	if operatorImage.MatchString(c.Image) {
		return true
	}
	if len(c.Command) == 0 || c.Command[0] != "/manager" || !selects(d, "control-plane", "controller-manager") {
		return false
	}
	account := d.Spec.Template.Spec.ServiceAccountName
	return account == "paddle-manager-sa" || d.Name == "paddle-controller-manager" && (account == "" || account == "default")
}

// isTrainingJobOperator reports whether a container is paddle-operator 0.1, which has another API, program and chart than the later releases.
func isTrainingJobOperator(d *appsv1.Deployment, c *corev1.Container) bool {
	return d.Name == "paddle-operator" && selects(d, "app", "paddle-operator") && slices.Contains(c.Args, "-kubeconfig")
}

func selects(d *appsv1.Deployment, key, value string) bool {
	return d.Spec.Selector != nil && d.Spec.Selector.MatchLabels[key] == value
}
