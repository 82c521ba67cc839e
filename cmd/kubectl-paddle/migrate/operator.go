// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"regexp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

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
// on), or its name, unless it has a ServiceAccount of its own as the controller has (up to 0.3.0).
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
