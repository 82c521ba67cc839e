// SPDX-License-Identifier: Apache-2.0

package volcano

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"
)

// TestedVersion is the version of Volcano, without its patch, that the controller is tested with.
const TestedVersion = "1.14"

// controllerSelector selects the pods of Volcano's controller, as Volcano's chart and its manifests label them.
const controllerSelector = "app=volcano-controller"

// Version returns the version of Volcano that runs in the cluster, which is the tag of the image of its controller's pods. It is
// empty if there is no such pod, or if its image has no tag that is a version.
func Version(ctx context.Context, client kubernetes.Interface) (string, error) {
	pods, err := client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: controllerSelector})
	if err != nil {
		return "", fmt.Errorf("listing the pods %s in all namespaces, to read Volcano's version: %w", controllerSelector, err)
	}
	for i := range pods.Items {
		for j := range pods.Items[i].Spec.Containers {
			image, _, _ := strings.Cut(pods.Items[i].Spec.Containers[j].Image, "@")
			tag := image[strings.LastIndex(image, ":")+1:]
			if _, err := version.ParseSemantic(tag); err == nil {
				return tag, nil
			}
		}
	}
	return "", nil
}

// Tested reports whether the controller is tested with a version of Volcano, whatever its patch.
func Tested(v string) bool {
	parsed, err := version.ParseSemantic(v)
	tested := version.MustParseGeneric(TestedVersion)
	return err == nil && parsed.Major() == tested.Major() && parsed.Minor() == tested.Minor()
}
