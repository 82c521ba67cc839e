// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// unstable are kinds that change or stay by themselves.
var unstable = []string{"events", "leases"}

// objects lists everything in a namespace, of all kinds that the API server has, by kind and name with its resource
// version.
func objects(ctx context.Context, namespace string) (map[string]string, error) {
	lists, err := cluster.discovery.ServerPreferredNamespacedResources()
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
			items, err := cluster.dynamic.Resource(group.WithResource(resource.Name)).Namespace(namespace).List(ctx, metav1.ListOptions{})
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
	text, err := metricsOfController(ctx)
	if err != nil {
		return 0, err
	}
	count := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "paddlejob_controller_sync_duration_seconds_count{") {
			fields := strings.Fields(line)
			n, err := strconv.Atoi(fields[len(fields)-1])
			if err != nil {
				return 0, err
			}
			count += n
		}
	}
	return count, nil
}

// awaitSyncs waits until the controller has looked at jobs some more times.
func awaitSyncs(t *testing.T, more int) {
	t.Helper()
	first, err := syncs(t.Context())
	require.NoError(t, err)
	await(t, fmt.Sprintf("%d more syncs", more), func(ctx context.Context) error {
		now, err := syncs(ctx)
		if err == nil && now < first+more {
			err = fmt.Errorf("there were %d", now-first)
		}
		return err
	})
}

// metricsOfController is what the controller serves to Prometheus.
func metricsOfController(ctx context.Context) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, cluster.controller+"/metrics", http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(response.Body)
	return string(text), errors.Join(err, response.Body.Close())
}
