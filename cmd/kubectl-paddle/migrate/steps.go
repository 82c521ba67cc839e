// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

// Cluster is what a cluster has of both.
type Cluster struct {
	// Operators are Deployments of paddle-operator's controller.
	Operators []appsv1.Deployment
	// Controllers are Deployments of ours.
	Controllers []appsv1.Deployment
	// API says whether PaddleJobs are known to the API server, and OurAPI whether with our fields.
	API, OurAPI bool
	// Volcano says whether Volcano's Jobs are known.
	Volcano bool
}

// Sort puts a Deployment where it belongs, by the images that it runs; those of others are passed over.
func (c *Cluster) Sort(d *appsv1.Deployment) {
	for i := range d.Spec.Template.Spec.Containers {
		switch image := d.Spec.Template.Spec.Containers[i].Image; {
		case strings.Contains(image, "paddlejob-controller"):
			c.Controllers = append(c.Controllers, *d)
			return
		case strings.Contains(image, "paddle-operator"):
			c.Operators = append(c.Operators, *d)
			return
		}
	}
}

// Steps are what an administrator has to do, in this order; none if all is done.
func (c *Cluster) Steps() []string {
	var steps []string
	if !c.Volcano {
		steps = append(steps, "install Volcano 1.14: PaddleJobs are run as its Jobs, and it is not here")
	}
	for i := range c.Operators {
		d := &c.Operators[i]
		if d.Spec.Replicas != nil && *d.Spec.Replicas == 0 {
			continue
		}
		steps = append(steps, fmt.Sprintf("stop paddle-operator, and leave its CRD, or every PaddleJob goes with it: "+
			"kubectl -n %s scale deployment %s --replicas=0", d.Namespace, d.Name))
	}
	switch {
	case !c.API:
		steps = append(steps, "install the API: kubectl create -f deploy/v1/crd.yaml")
	case !c.OurAPI:
		steps = append(steps, "bring the API up to date; no object of it changes: kubectl apply --server-side --force-conflicts -f deploy/v1/crd.yaml")
	}
	if len(c.Controllers) == 0 {
		steps = append(steps, "install the controller: "+c.install())
	}
	if len(steps) == 0 {
		return nil
	}
	if len(c.Operators) > 0 {
		steps = append(steps, "when no job of the list is RunsOn any more, delete what is left of paddle-operator: its Deployment, "+
			"ServiceAccount and roles, never its CRD or its namespace")
	}
	return steps
}

// install is the command for a controller: paddle-operator's Deployment has the name of ours in its own manifest.
func (c *Cluster) install() string {
	for i := range c.Operators {
		if d := &c.Operators[i]; d.Name == "paddle-controller-manager" && d.Namespace == "paddle-system" {
			return "kubectl delete deployment -n paddle-system paddle-controller-manager (its labels cannot change), then kubectl apply -f deploy/v1/operator.yaml"
		}
	}
	return "kubectl apply -f deploy/v1/operator.yaml, or helm install (deploy/README.md)"
}

// Warnings are what is dangerous as it is now.
func (c *Cluster) Warnings() []string {
	running := 0
	for i := range c.Operators {
		if d := &c.Operators[i]; d.Spec.Replicas == nil || *d.Spec.Replicas > 0 {
			running++
		}
	}
	if running > 0 && len(c.Controllers) > 0 {
		return []string{"paddle-operator and the controller run at the same time: both make pods for the same jobs. Stop paddle-operator now"}
	}
	return nil
}
