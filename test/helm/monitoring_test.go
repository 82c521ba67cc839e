// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// monitored switches on all that is off by default and needs no other program than the API server.
const monitored = "podMonitor.enabled=true,podMonitor.labels.release=prometheus,prometheusRule.enabled=true,dashboards.enabled=true," +
	"networkPolicy.enabled=true,networkPolicy.from[0].namespaceSelector.matchLabels.name=monitoring"

// requireStored checks that the API server holds every object of a release as it was rendered: that it has taken each, and has
// dropped no field of any.
func requireStored(t *testing.T, values ...string) {
	t.Helper()
	for name, object := range render(t, values...) {
		now, err := cluster.objects.Get(t.Context(), system, object)
		require.NoError(t, err, name)
		require.Subset(t, now.GetLabels(), object.GetLabels(), name)
		for field, want := range object.Object {
			switch field {
			case "apiVersion", "kind", "metadata", "status":
			default:
				requireHolds(t, name+" "+field, now.Object[field], want)
			}
		}
	}
}

// requireHolds checks that got is want, and perhaps more, such as defaults.
func requireHolds(t *testing.T, where string, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		got, isMap := got.(map[string]any)
		require.True(t, isMap, "%s is %v, not %v", where, got, want)
		for key, value := range want {
			if value != nil {
				requireHolds(t, where+"."+key, got[key], value)
			}
		}
	case []any:
		got, isList := got.([]any)
		require.True(t, isList || len(want) == 0, "%s is %v, not %v", where, got, want)
		require.Len(t, got, len(want), where)
		for i := range want {
			requireHolds(t, where, got[i], want[i])
		}
	default:
		require.EqualValues(t, want, got, where)
	}
}

// monitorsAccount is the account whose token the PodMonitor names. The Secret itself gets its token from a controller that the sandbox
// has not.
func monitorsAccount(t *testing.T) string {
	t.Helper()
	all := render(t, monitored)
	endpoints, _, err := unstructured.NestedSlice(all["PodMonitor "+theController].Object, "spec", "podMetricsEndpoints")
	require.NoError(t, err)
	endpoint := &unstructured.Unstructured{Object: endpoints[0].(map[string]any)} //nolint:errcheck,forcetypeassert // it was stored
	secret, _, err := unstructured.NestedString(endpoint.Object, "authorization", "credentials", "name")
	require.NoError(t, err)
	return all["Secret "+system+"/"+secret].GetAnnotations()["kubernetes.io/service-account.name"]
}

// readOpen reads metrics that are for anyone.
func readOpen(t *testing.T, address string) map[string]float64 {
	t.Helper()
	var values map[string]float64
	cluster.Await(t, "metrics at "+address, func(ctx context.Context) error {
		body, err := get(ctx, http.DefaultClient, "http://"+address+"/metrics", "")
		if err == nil {
			values, err = live.ParseMetrics(strings.NewReader(body))
		}
		return err
	})
	return values
}
