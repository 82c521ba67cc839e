// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
)

// Component is a Deployment of the controller or of a scheduler.
type Component struct {
	// Role is "controller" or "scheduler".
	Role      string `json:"role"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Version is the tag of the image, or else the label app.kubernetes.io/version of the Deployment, or else the digest.
	Version string `json:"version"`
	Image   string `json:"image"`
}

// Components returns the controllers and the schedulers of the cluster.
func (c *Clients) Components(ctx context.Context) (found []Component, err error) {
	deployments, err := List[appsv1.DeploymentList](ctx, c, metav1.NamespaceAll, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("read the Deployments of all namespaces, to find the controller and the scheduler: %w", err)
	}
	for i := range deployments.Items {
		d := &deployments.Items[i]
		ours := d.Labels["app.kubernetes.io/component"] == "controller" &&
			(d.Labels["app.kubernetes.io/part-of"] == "paddle-volcano" || d.Labels["app.kubernetes.io/name"] == "paddle-volcano")
		for j := range d.Spec.Template.Spec.Containers {
			container := &d.Spec.Template.Spec.Containers[j]
			one := Component{Role: "controller", Namespace: d.Namespace, Name: d.Name, Image: container.Image}
			if argument(container, schedulerConf) != "" {
				one.Role = "scheduler"
			} else if !ours {
				continue
			}
			image, digest, _ := strings.Cut(container.Image, "@")
			_, tag, _ := strings.Cut(path.Base(image), ":")
			one.Version = cmp.Or(tag, d.Labels["app.kubernetes.io/version"], digest, "latest")
			found = append(found, one)
		}
	}
	slices.SortStableFunc(found, func(a, b Component) int { return cmp.Compare(a.Role, b.Role) })
	return found, nil
}

// schedulerConf is Volcano's flag with the path of the configuration, and schedulerName that with the name that pods give.
const schedulerConf, schedulerName = "scheduler-conf", "scheduler-name"

// errNoScheduler is the error where no Deployment of the cluster is a scheduler's.
var errNoScheduler = errors.New("no Deployment of the cluster has the flag --" + schedulerConf + " and a ConfigMap for it")

// configuration returns the configuration that the running scheduler of a name has mounted; "" is Volcano's name.
func (c *Clients) configuration(ctx context.Context, scheduler string) (string, error) {
	deployments, err := List[appsv1.DeploymentList](ctx, c, metav1.NamespaceAll, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	scheduler = cmp.Or(scheduler, builder.DefaultScheduler)
	var best *appsv1.Deployment
	var source *mounted
	for i := range deployments.Items {
		d := &deployments.Items[i]
		found := configurationOf(d, scheduler)
		// One that has no replicas does not run. It counts only where there is no other.
		if found != nil && (best == nil || !runs(best) && runs(d)) {
			best, source = d, found
		}
	}
	if best == nil {
		return "", errNoScheduler
	}
	object, err := Get[corev1.ConfigMap](ctx, c, best.Namespace, source.configMap)
	if err != nil {
		return "", err
	}
	if text, ok := object.Data[source.key]; ok {
		return text, nil
	}
	return config.InData(object.Data), nil
}

func runs(d *appsv1.Deployment) bool { return d.Spec.Replicas == nil || *d.Spec.Replicas > 0 }

// mounted is an entry of a ConfigMap.
type mounted struct{ configMap, key string }

// configurationOf returns where a Deployment has its configuration from, nil if it is no scheduler of that name.
func configurationOf(d *appsv1.Deployment, scheduler string) *mounted {
	pod := &d.Spec.Template.Spec
	for i := range pod.Containers {
		container := &pod.Containers[i]
		file := argument(container, schedulerConf)
		names := strings.Split(cmp.Or(argument(container, schedulerName), builder.DefaultScheduler), ",")
		if file == "" || !slices.Contains(names, scheduler) {
			continue
		}
		for _, mount := range container.VolumeMounts {
			within, ok := strings.CutPrefix(file, strings.TrimSuffix(mount.MountPath, "/"))
			if !ok {
				continue
			}
			for _, volume := range pod.Volumes {
				if volume.Name == mount.Name && volume.ConfigMap != nil {
					return &mounted{volume.ConfigMap.Name, keyOf(volume.ConfigMap, cmp.Or(mount.SubPath, strings.TrimPrefix(within, "/")))}
				}
			}
		}
	}
	return nil
}

// keyOf returns the entry of a ConfigMap that a volume has as a file.
func keyOf(volume *corev1.ConfigMapVolumeSource, file string) string {
	for _, item := range volume.Items {
		if item.Path == file {
			return item.Key
		}
	}
	return file
}

// argument returns the value of a flag that a container is started with, "" if it is not.
func argument(container *corev1.Container, flag string) string {
	args := slices.Concat(container.Command, container.Args)
	for i, arg := range args {
		name, value, ok := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if name != flag || !strings.HasPrefix(arg, "-") {
			continue
		}
		if !ok && i+1 < len(args) {
			return args[i+1]
		}
		return value
	}
	return ""
}

// topologyLabels returns the plugin's argument from the text of a scheduler's configuration.
func topologyLabels(text string) ([]string, error) {
	parsed, _, err := config.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read the scheduler's configuration: %w", err)
	}
	for _, tier := range parsed.Tiers {
		for i := range tier.Plugins {
			if tier.Plugins[i].Name == config.PluginName {
				arguments, _ := config.Decode(tier.Plugins[i].Arguments, nil) // errors are the scheduler's to report
				return arguments.TopologyLabels, nil
			}
		}
	}
	return nil, nil
}
