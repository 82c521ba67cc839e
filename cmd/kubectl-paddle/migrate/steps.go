// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

// Cluster is what a cluster has of paddle-operator, of the controller and of Volcano.
type Cluster struct {
	// Operators are the Deployments of paddle-operator 0.2 to 0.3.5, which run PaddleJobs.
	Operators []appsv1.Deployment
	// TrainingJobOperators are the Deployments of paddle-operator 0.1, which run TrainingJobs.
	TrainingJobOperators []appsv1.Deployment
	// Controllers are the Deployments of the controller.
	Controllers []appsv1.Deployment
	// API reports whether the cluster has the CRD of PaddleJobs, and OurAPI whether the CRD has the controller's fields.
	API, OurAPI bool
	// Volcano reports whether the cluster has the CRD of Volcano Jobs.
	Volcano bool
}

// Step is something that an administrator has to do. Not every step has a command.
type Step struct {
	Do      string `json:"do"`
	Command string `json:"command,omitempty"`
}

// Commands that deploy/MIGRATION.md gives too.
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
	for i := range c.Operators {
		d := &c.Operators[i]
		if release := d.Annotations["meta.helm.sh/release-name"]; release != "" {
			install = byHelm
			steps = append(steps, Step{Do: fmt.Sprintf("Do not run helm uninstall %s: it deletes the CRD, the Namespace and all jobs. "+
				"Delete only Helm's record of the release:", release), Command: fmt.Sprintf(forget, d.Annotations["meta.helm.sh/release-namespace"], release)})
		}
		steps = append(steps, Step{Do: "Delete paddle-operator, but not its CRD and its Namespace. Jobs keep running:", Command: deleting(d, parts...)})
	}
	switch {
	case !c.API:
		steps = append(steps, Step{Do: "Install the CRD:", Command: update})
	case !c.OurAPI:
		steps = append(steps, Step{Do: "Update the CRD. No PaddleJob changes:", Command: update})
	}
	if len(c.Controllers) == 0 {
		steps = append(steps, Step{Do: "Install the controller, with your registry (deploy/MIGRATION.md has the commands for Helm and for kubectl):", Command: install})
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

// Warnings are what is dangerous as it is now.
func (c *Cluster) Warnings() []string {
	runs := func(d appsv1.Deployment) bool { return d.Spec.Replicas == nil || *d.Spec.Replicas > 0 }
	if slices.ContainsFunc(c.Operators, runs) && len(c.Controllers) > 0 {
		return []string{"paddle-operator and the controller run at the same time, and both create pods for the same jobs. Delete paddle-operator now."}
	}
	return nil
}
