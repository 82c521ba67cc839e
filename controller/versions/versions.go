// SPDX-License-Identifier: Apache-2.0

// Package versions declares which versions of Kubernetes and of Volcano the project supports, and logs at the start of a program those of
// the cluster that are not.
package versions

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

// supportedVolcano is the version of Volcano, without its patch.
const supportedVolcano = "1.14"

// oldestKubernetes and newestKubernetes are the first and the last version of Kubernetes, without their patches, that the project
// supports with that Volcano. The chart's kubeVersion has the same.
const oldestKubernetes, newestKubernetes = "1.25", "1.34"

// LogKubernetes logs the version of Kubernetes, and a warning if it is not supported.
func LogKubernetes(ctx context.Context, kube discovery.ServerVersionInterface) {
	logger := klog.FromContext(ctx)
	switch found, err := kube.ServerVersion(); {
	case err != nil:
		logger.Info("The version of Kubernetes could not be read", "err", err)
	case !kubernetesIsSupported(found.GitVersion):
		logger.Info("Warning: the version of Kubernetes is not supported", "version", found.GitVersion, "oldest", oldestKubernetes, "newest", newestKubernetes)
	default:
		logger.Info("Found Kubernetes", "version", found.GitVersion)
	}
}

// kubernetesIsSupported reports whether the project supports a version of Kubernetes. It ignores the patch version.
func kubernetesIsSupported(v string) bool {
	parsed, err := version.ParseGeneric(v)
	if err != nil {
		return false
	}
	minor := version.MajorMinor(parsed.Major(), parsed.Minor())
	return minor.AtLeast(version.MustParseGeneric(oldestKubernetes)) && !minor.GreaterThan(version.MustParseGeneric(newestKubernetes))
}

// volcanoSelector selects the pods of Volcano's controller, as Volcano's chart and its manifests label them.
const volcanoSelector = "app=volcano-controller"

// LogVolcano logs the version of Volcano, and a warning if it is not supported. It lists pods of all namespaces.
func LogVolcano(ctx context.Context, kube kubernetes.Interface) {
	logger := klog.FromContext(ctx)
	switch found, err := volcano(ctx, kube); {
	case err != nil:
		logger.Info("The version of Volcano could not be read", "supported", supportedVolcano, "err", err)
	case found == "":
		logger.Info("The version of Volcano is unknown: no pod of its controller has an image with a version as its tag", "supported", supportedVolcano)
	case !volcanoIsSupported(found):
		logger.Info("Warning: the version of Volcano is not supported", "version", found, "supported", supportedVolcano)
	default:
		logger.Info("Found Volcano", "version", found)
	}
}

// volcano returns the version of Volcano that runs in the cluster, which is the tag of the image of its controller's pods. It is empty if
// there is no such pod, or if its image has no tag that is a version.
func volcano(ctx context.Context, client kubernetes.Interface) (string, error) {
	pods, err := client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: volcanoSelector})
	if err != nil {
		return "", fmt.Errorf("listing the pods %s in all namespaces, to read Volcano's version: %w", volcanoSelector, err)
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

// volcanoIsSupported reports whether the project supports a version of Volcano. It ignores the patch version.
func volcanoIsSupported(v string) bool {
	parsed, err := version.ParseSemantic(v)
	wanted := version.MustParseGeneric(supportedVolcano)
	return err == nil && parsed.Major() == wanted.Major() && parsed.Minor() == wanted.Minor()
}
