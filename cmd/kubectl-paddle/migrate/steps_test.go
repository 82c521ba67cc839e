// SPDX-License-Identifier: Apache-2.0

package migrate_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/migrate"
)

// release has the facts of a paddle-operator in which releases differ.
type release struct {
	manifestImage, chartImage string
	// account is the ServiceAccount. Empty means default.
	account string
	// args are those of the manifest; the chart's always limit the operator to a namespace.
	args []string
}

// releases are all that were published after 0.1. What they have in common is in deployment. The charts from 0.3.1 on contain YAML
// that Helm cannot parse; users had to correct them.
var releases = map[string]release{
	"v0.2.0":    {oldImage + "v1", oldImage + "v1", "", oneNamespace},
	"v0.2.1":    {oldImage + "v1", oldImage + "v1", "", oneNamespace},
	"v0.3-beta": {oldImage + "v0.3-beta", oldImage + "v1", "", oneNamespace},
	"v0.3.0":    {oldImage + "v0.3.0", oldImage + "v1", "", oneNamespace},
	"v0.3.1":    {newImage + "v0.3.1", newImage + "v0.3.1", "paddle-manager-sa", oneNamespace},
	"v0.3.2":    {newImage + "v0.3.1", newImage + "v0.3.1", "paddle-manager-sa", allNamespaces},
	"v0.3.3":    {newImage + "v0.3.3", newImage + "v0.3.1", "paddle-manager-sa", allNamespaces},
	"v0.3.4":    {newImage + "v0.3.4", newImage + "v0.3.1", "paddle-manager-sa", allNamespaces},
	"v0.3.5":    {newImage + "v0.3.5", newImage + "v0.3.1", "paddle-manager-sa", allNamespaces},
}

const (
	oldImage = "registry.baidubce.com/paddle-operator/controller:"
	newImage = "registry.baidubce.com/paddlecloud/controller:"
)

var (
	oneNamespace  = []string{"--leader-elect", "--namespace=paddle-system"}
	allNamespaces = []string{"--leader-elect"}
)

// deployment is as kubebuilder generates it, which is what all releases after 0.1 have.
func deployment(namespace, name, image, account string, args ...string) *appsv1.Deployment {
	label := map[string]string{"control-plane": "controller-manager"}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: label}}
	d.Spec.Replicas, d.Spec.Selector = ptr.To[int32](1), &metav1.LabelSelector{MatchLabels: label}
	d.Spec.Template.Labels = label
	d.Spec.Template.Spec.ServiceAccountName = account
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "manager", Image: image, Command: []string{"/manager"}, Args: args}}
	return d
}

// deployed has a Helm release own a Deployment, as Helm writes it down.
func deployed(d *appsv1.Deployment, namespace, name string) *appsv1.Deployment {
	d.Annotations = map[string]string{"meta.helm.sh/release-name": name, "meta.helm.sh/release-namespace": namespace}
	return d
}

// trainingJobs is paddle-operator 0.1 as its chart installs it.
func trainingJobs() *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "paddle-operator", Labels: map[string]string{"chart": "paddle-operator-0.1.0"}}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "paddle-operator"}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{
		Name: "paddle-operator", Image: "docker.io/tizhou86/paddle-operator:0.1.0", Args: []string{"-kubeconfig", "/.kube/config", "-autoclean"},
	}}
	return d
}

// controller is the one that this project installs, here with the same labels as paddle-operator.
func controller(image string) *appsv1.Deployment {
	d := deployment("paddle-system", "paddle-controller-manager", image, "paddle-controller-manager",
		"--leader-elect=true", "--leader-elect-resource-namespace=paddle-system")
	d.Spec.Template.Spec.Containers[0].Name, d.Spec.Template.Spec.Containers[0].Command = "controller", nil
	return d
}

func sort(all ...*appsv1.Deployment) *migrate.Cluster {
	c := &migrate.Cluster{API: true, CurrentAPI: true, Volcano: true}
	for _, d := range all {
		c.Sort(d)
	}
	return c
}

// Each release is recognized as its manifest and its chart install it, in any namespace, with more flags, and from another registry.
func TestEveryReleaseOfPaddleOperatorIsRecognized(t *testing.T) {
	t.Parallel()
	for tag, r := range releases {
		chartArgs := []string{"--leader-elect", "--namespace=training"}
		for how, d := range map[string]*appsv1.Deployment{
			"its manifest":       deployment("paddle-system", "paddle-controller-manager", r.manifestImage, r.account, r.args...),
			"its chart":          deployed(deployment("ml", "paddle-controller-manager", r.chartImage, r.account, chartArgs...), "default", "po"),
			"with Volcano":       deployment("paddle-system", "paddle-controller-manager", r.manifestImage, r.account, append(r.args, "--scheduling=volcano", "--initImage=busybox")...),
			"a mirror":           deployment("paddle-system", "paddle-controller-manager", "harbor.corp:5000/mirror/"+r.manifestImage, r.account, r.args...),
			"another registry":   deployment("ml", "paddle-controller-manager", "harbor.corp/ai/controller:"+tag, r.account, r.args...),
			"by digest":          deployment("ml", "paddle-controller-manager", strings.Split(r.manifestImage, ":")[0]+"@sha256:0123", r.account, r.args...),
			"another name":       deployment("ml", "paddlejobs", r.manifestImage, r.account, r.args...),
			"account is written": deployment("paddle-system", "paddle-controller-manager", "harbor.corp/controller", cmp.Or(r.account, "default"), r.args...),
		} {
			c := sort(d)
			require.Len(t, c.Operators, 1, "%s, %s", tag, how)
			require.Empty(t, c.Controllers)
			require.Empty(t, c.TrainingJobOperators)
			require.Contains(t, c.Steps()[len(c.Steps())-2].Command, fmt.Sprintf("--namespace %s --cascade=foreground --ignore-not-found deployment/%s ", d.Namespace, d.Name))
		}
	}
	c := sort(trainingJobs())
	require.Len(t, c.TrainingJobOperators, 1)
	require.Empty(t, c.Operators)
}

func TestNoOtherDeploymentIsTakenForPaddleOperator(t *testing.T) {
	t.Parallel()
	sidecar := deployment("a", "b", "nginx", "")
	sidecar.Spec.Template.Spec.Containers = append(sidecar.Spec.Template.Spec.Containers, corev1.Container{Image: "gcr.io/kubebuilder/kube-rbac-proxy:v0.8.0"})
	site := trainingJobs()
	site.Spec.Template.Spec.Containers = []corev1.Container{{Image: "harbor.corp/docs/paddle-operator:1"}}
	for name, d := range map[string]*appsv1.Deployment{
		"another operator of kubebuilder":     deployment("foo-system", "foo-controller-manager", "controller:latest", "foo-controller-manager", "--leader-elect"),
		"one without a ServiceAccount":        deployment("paddle-system", "foo-controller-manager", "harbor.corp/ai/controller:v0.3.5", "", "--leader-elect"),
		"one that is called paddle":           deployment("paddle-system", "paddle-controller-manager", "controller:latest", "paddle-controller-manager", "--leader-elect"),
		"a sidecar of kubebuilder":            sidecar,
		"another image of paddle-operator":    deployment("paddle-system", "paddle-operator-dashboard", "harbor.corp/paddle-operator/dashboard:v1", ""),
		"an image whose name ends alike":      deployment("a", "b", "harbor.corp/not-paddlecloud/controller:v1", ""),
		"a web site":                          site,
		"the controller, under another image": controller("harbor.corp/ai/controller:v0.1.0"),
		"no selector":                         {Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Command: []string{"/manager"}}}}}}},
	} {
		require.Equal(t, sort(), sort(d), name)
	}
	for _, image := range []string{"ghcr.io/paddle-volcano/paddlejob-controller:v0.1.0", "harbor.corp/paddle-operator/paddlejob-controller@sha256:0123"} {
		c := sort(controller(image))
		require.Len(t, c.Controllers, 1, image)
		require.Empty(t, c.Operators)
	}
}

const (
	update = "kubectl apply --server-side --force-conflicts -f deploy/v1/crd.yaml"
	byHelm = "hack/helm.sh install paddle deploy/helm/paddle-volcano --namespace paddle-system --create-namespace --take-ownership" +
		" --set image.registry=registry.example.com/paddle"
	byKubectl = "kubectl apply --server-side -f deploy/v1/namespace.yaml && " +
		"sed 's|registry.invalid|registry.example.com/paddle|' deploy/v1/operator.yaml | kubectl apply --server-side -f -"
)

// operator is paddle-operator 0.3.5 in a namespace, and what deletes it there.
func operator(namespace string) (d *appsv1.Deployment, deletes string) {
	const parts = " serviceaccount/paddle-manager-sa configmap/paddle-manager-config service/paddle-controller-manager-metrics-service" +
		" role/paddle-leader-election-role rolebinding/paddle-leader-election-rolebinding" +
		" clusterrole/paddle-manager-role clusterrolebinding/paddle-manager-rolebinding" +
		" clusterrole/paddle-proxy-role clusterrolebinding/paddle-proxy-rolebinding clusterrole/paddle-metrics-reader"
	r := releases["v0.3.5"]
	return deployment(namespace, "paddle-controller-manager", r.manifestImage, r.account, r.args...),
		"kubectl delete --namespace " + namespace + " --cascade=foreground --ignore-not-found deployment/paddle-controller-manager" + parts
}

func TestSteps(t *testing.T) {
	t.Parallel()
	manifest, deleteManifest := operator("paddle-system")
	chart, deleteChart := operator("ml")
	deployed(chart, "ops", "po")
	stopped, _ := operator("paddle-system")
	stopped.Spec.Replicas = ptr.To[int32](0)
	current := controller("harbor.corp/paddlejob-controller:v0.1.0")
	for name, tc := range map[string]struct {
		deployments []*appsv1.Deployment
		missing     string
		want        []string
	}{
		"nothing":                      {nil, "Volcano, API", []string{"", update, byKubectl}},
		"all is done":                  {[]*appsv1.Deployment{current}, "", []string{}},
		"from its manifest":            {[]*appsv1.Deployment{manifest}, "CurrentAPI", []string{deleteManifest, update, byKubectl}},
		"it is stopped":                {[]*appsv1.Deployment{stopped}, "", []string{deleteManifest, byKubectl}},
		"from its chart":               {[]*appsv1.Deployment{chart}, "CurrentAPI", []string{"kubectl delete secret,configmap --namespace ops --selector owner=helm,name=po", deleteChart, update, byHelm}},
		"the controller runs too":      {[]*appsv1.Deployment{manifest, current}, "", []string{deleteManifest}},
		"0.1, which runs TrainingJobs": {[]*appsv1.Deployment{trainingJobs(), current}, "", []string{"kubectl delete --namespace kube-system --cascade=foreground --ignore-not-found deployment/paddle-operator clusterrolebinding/paddle-operator-default-admin"}},
	} {
		c := sort(tc.deployments...)
		c.Volcano = !strings.Contains(tc.missing, "Volcano")
		c.API, c.CurrentAPI = !strings.HasSuffix(tc.missing, " API"), !strings.HasSuffix(tc.missing, "API")
		got := []string{}
		for _, step := range c.Steps() {
			require.NotEmpty(t, step.Do)
			got = append(got, step.Command)
		}
		require.Equal(t, tc.want, got, name)
	}
}

// Only two that run PaddleJobs at the same time are dangerous.
func TestWarnings(t *testing.T) {
	t.Parallel()
	runs, _ := operator("ml")
	stopped, _ := operator("ml")
	stopped.Spec.Replicas = ptr.To[int32](0)
	current := controller("paddlejob-controller")
	require.Len(t, sort(runs, current).Warnings(), 1)
	for _, c := range []*migrate.Cluster{sort(runs), sort(current), sort(stopped, current), sort(trainingJobs(), current)} {
		require.Empty(t, c.Warnings())
	}
}
