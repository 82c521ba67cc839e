// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// unstable are kinds that change or stay by themselves.
var unstable = []string{"events", "leases"}

// objects lists everything in a namespace, of all kinds that the API server has, by kind and name with its resource
// version.
func objects(ctx context.Context, namespace string) (map[string]string, error) {
	lists, err := cluster.Kube.Discovery().ServerPreferredNamespacedResources()
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for i := range list.APIResources {
			resource := &list.APIResources[i]
			if !slices.Contains(resource.Verbs, "list") || slices.Contains(unstable, resource.Name) {
				continue
			}
			items, err := cluster.Dynamic.Resource(group.WithResource(resource.Name)).Namespace(namespace).List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, fmt.Errorf("listing %s: %w", resource.Name, err)
			}
			for _, item := range items.Items {
				found[resource.Kind+" "+item.GetName()] = item.GetResourceVersion()
			}
		}
	}
	return found, nil
}

// ofTheirs leaves the objects that a job made: those of a namespace without the ones that were there before.
func ofTheirs(all, before map[string]string) []string {
	var names []string
	for name := range all {
		if _, old := before[name]; !old {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// syncs is how often the controller has looked at a job since it started.
func syncs(ctx context.Context) (int, error) {
	values, err := cluster.Metrics(ctx, sandbox.Controller)
	count := 0.0
	for name, value := range values {
		if strings.HasPrefix(name, "paddlejob_controller_sync_duration_seconds_count{") {
			count += value
		}
	}
	return int(count), err
}

// awaitSyncs waits until the controller has looked at jobs some more times.
func awaitSyncs(t *testing.T, more int) {
	t.Helper()
	first, err := syncs(t.Context())
	require.NoError(t, err)
	cluster.Await(t, fmt.Sprintf("%d more syncs", more), func(ctx context.Context) error {
		now, err := syncs(ctx)
		if err == nil && now < first+more {
			err = fmt.Errorf("there were %d", now-first)
		}
		return err
	})
}
