// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
)

// testedVersion is the version of Volcano, without its patch, that the controller is tested with.
const testedVersion = "1.14"

// oldestKubernetes and newestKubernetes are the first and the last version of Kubernetes, without their patches, that the project
// supports with that Volcano. The chart's kubeVersion has the same.
const oldestKubernetes, newestKubernetes = "1.25", "1.34"

// logKubernetesVersion logs the version of Kubernetes, and a warning if the controller does not support it.
func logKubernetesVersion(ctx context.Context, kube discovery.ServerVersionInterface) {
	logger := klog.FromContext(ctx)
	switch found, err := kube.ServerVersion(); {
	case err != nil:
		logger.Info("The version of Kubernetes could not be read", "err", err)
	case !supportedKubernetes(found.GitVersion):
		logger.Info("Warning: this controller does not support the version of Kubernetes", "version", found.GitVersion, "oldest", oldestKubernetes, "newest", newestKubernetes)
	default:
		logger.Info("Found Kubernetes", "version", found.GitVersion)
	}
}

// supportedKubernetes reports whether the project supports a version of Kubernetes, whatever its patch.
func supportedKubernetes(v string) bool {
	parsed, err := version.ParseGeneric(v)
	if err != nil {
		return false
	}
	minor := version.MajorMinor(parsed.Major(), parsed.Minor())
	return minor.AtLeast(version.MustParseGeneric(oldestKubernetes)) && !minor.GreaterThan(version.MustParseGeneric(newestKubernetes))
}

// controllerSelector selects the pods of Volcano's controller, as Volcano's chart and its manifests label them.
const controllerSelector = "app=volcano-controller"

// logVolcanoVersion logs the version of Volcano, and a warning if the controller is not tested with it.
func logVolcanoVersion(ctx context.Context, kube kubernetes.Interface) {
	logger := klog.FromContext(ctx)
	switch found, err := volcanoVersion(ctx, kube); {
	case err != nil:
		logger.Info("The version of Volcano could not be read", "tested", testedVersion, "err", err)
	case found == "":
		logger.Info("The version of Volcano is unknown: no pod of its controller has an image with a version as its tag", "tested", testedVersion)
	case !tested(found):
		logger.Info("Warning: this controller is not tested with the version of Volcano", "version", found, "tested", testedVersion)
	default:
		logger.Info("Found Volcano", "version", found)
	}
}

// volcanoVersion returns the version of Volcano that runs in the cluster, which is the tag of the image of its controller's pods. It is
// empty if there is no such pod, or if its image has no tag that is a version.
func volcanoVersion(ctx context.Context, client kubernetes.Interface) (string, error) {
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

// tested reports whether the controller is tested with a version of Volcano, whatever its patch.
func tested(v string) bool {
	parsed, err := version.ParseSemantic(v)
	wanted := version.MustParseGeneric(testedVersion)
	return err == nil && parsed.Major() == wanted.Major() && parsed.Minor() == wanted.Minor()
}
