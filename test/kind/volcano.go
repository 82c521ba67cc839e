// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// quick are the Job controller's flags, as the sandbox sets them: by its defaults it makes no more than 50 pods a second.
var quick = []string{"--kube-api-qps=2000", "--kube-api-burst=2000", "--worker-threads=8"}

// stock makes Volcano's installer fit for a measurement, and returns what of it is the scheduler's.
func (s Settings) stock(volcano []*unstructured.Unstructured) (scheduler []*unstructured.Unstructured, err error) {
	for _, object := range volcano {
		switch object.GetKind() + " " + object.GetName() {
		case "Deployment volcano-controllers":
			err = change(object, func(container map[string]any) error { return override(container, quick) })
		case "Deployment volcano-scheduler":
			err = change(object, func(container map[string]any) error {
				container["image"] = s.Scheduler
				return nil
			})
		}
		if err != nil {
			return nil, fmt.Errorf("change %s %s of Volcano's installer: %w", object.GetKind(), object.GetName(), err)
		}
		if strings.HasPrefix(object.GetName(), "volcano-scheduler") && object.GetKind() != "Service" {
			scheduler = append(scheduler, object.DeepCopy())
		}
	}
	const parts = 5
	if len(scheduler) != parts {
		return nil, fmt.Errorf("the scheduler of Volcano's installer has %d objects, not %d (account, configuration, role, binding, Deployment): was it changed?", len(scheduler), parts)
	}
	return scheduler, nil
}

// override replaces flags that are there.
func override(container map[string]any, flags []string) error {
	args, _, err := unstructured.NestedStringSlice(container, "args")
	if err != nil {
		return fmt.Errorf("read its arguments: %w", err)
	}
	for _, flag := range flags {
		name, _, _ := strings.Cut(flag, "=")
		at := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, name+"=") })
		if at < 0 {
			return fmt.Errorf("it has no flag %s", name)
		}
		args[at] = flag
	}
	return unstructured.SetNestedStringSlice(container, args, "args")
}

// change hands over the containers of a workload's pods.
func change(workload *unstructured.Unstructured, each func(container map[string]any) error) error {
	path := []string{"spec", "template", "spec", "containers"}
	containers, found, err := unstructured.NestedSlice(workload.Object, path...)
	if err != nil || !found {
		return fmt.Errorf("find its containers (%t): %w", found, err)
	}
	for _, item := range containers {
		container, ok := item.(map[string]any)
		if !ok {
			return fmt.Errorf("a container of it is no object: %v", item)
		}
		if err := each(container); err != nil {
			return err
		}
	}
	return unstructured.SetNestedSlice(workload.Object, containers, path...)
}
