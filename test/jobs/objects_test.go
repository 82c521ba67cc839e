// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// kinds are all kinds of objects that a namespace can have.
var kinds []schema.GroupVersionResource

// visit calls do for each object in a namespace, but for those that every namespace has.
func visit(ctx context.Context, namespace string, do func(kindAndName string, object metav1.Object) error) error {
	for _, kind := range kinds {
		list, err := cluster.Dynamic.Resource(kind).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("list %s: %w", kind.Resource, err)
		}
		for i := range list.Items {
			object := &list.Items[i]
			if live.InEveryNamespace(object) {
				continue
			}
			if err := do(object.GetKind()+" "+object.GetName(), object); err != nil {
				return err
			}
		}
	}
	return nil
}

// objects returns the resource versions of all objects in a namespace by kind and name.
func objects(ctx context.Context, namespace string) (map[string]string, error) {
	found := map[string]string{}
	return found, visit(ctx, namespace, func(name string, object metav1.Object) error {
		found[name] = object.GetResourceVersion()
		return nil
	})
}

// awaitEmpty waits until nothing is left in a namespace.
func awaitEmpty(t *testing.T, namespace string) {
	t.Helper()
	cluster.Await(t, "nothing to be left", func(ctx context.Context) error {
		return visit(ctx, namespace, func(name string, _ metav1.Object) error { return fmt.Errorf("there is %s", name) })
	})
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
