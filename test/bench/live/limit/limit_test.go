// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func wrote(verb, resource, sub, name, body string) *auditv1.Event {
	e := &auditv1.Event{Verb: verb, ObjectRef: &auditv1.ObjectReference{Resource: resource, Subresource: sub, Name: name}}
	if body != "" {
		e.RequestObject = &runtime.Unknown{Raw: []byte(body)}
	}
	return e
}

func TestOnlyBindingsAreMadeAgain(t *testing.T) {
	bindings, err := Bindings([]*auditv1.Event{
		wrote("update", "podgroups", "", "g", `{"metadata":{"name":"g"}}`),
		wrote("create", "pods", "binding", "g-0", `{"metadata":{"name":"g-0","uid":"old"},"target":{"kind":"Node","name":"n1"}}`),
		wrote("create", "events", "", "g-0.1", `{}`),
		wrote("create", "pods", "binding", "g-1", `{"metadata":{"name":"g-1","uid":"old"},"target":{"kind":"Node","name":"n2"}}`),
		wrote("create", "pods", "", "h", `{}`),
	})
	require.NoError(t, err)
	pod := func(name string, uid types.UID) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "bench", UID: uid}}
	}
	ready, err := Ready(bindings, []corev1.Pod{pod("g-0", "a"), pod("g-1", "b"), pod("other", "c")})
	require.NoError(t, err)
	bound := map[string]corev1.Binding{}
	client := fake.NewClientset()
	client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		binding := action.(clienttesting.CreateAction).GetObject().(*corev1.Binding) //nolint:errcheck,forcetypeassert // it is a create of a binding
		bound[binding.Name] = *binding
		return true, binding, nil
	})
	require.NoError(t, Bind(t.Context(), client.CoreV1().Pods("bench"), ready, 1))
	require.Len(t, bound, 2)
	for name, want := range map[string][2]string{"g-0": {"a", "n1"}, "g-1": {"b", "n2"}} {
		require.Equal(t, want, [2]string{string(bound[name].UID), bound[name].Target.Name})
		require.Equal(t, "bench", bound[name].Namespace)
	}
	_, err = Ready(bindings, []corev1.Pod{pod("g-0", "a")})
	require.EqualError(t, err, "bind pod g-1 again: it does not exist")
	_, err = Bindings([]*auditv1.Event{wrote("create", "pods", "binding", "g-0", "")})
	require.ErrorContains(t, err, "no body")
}

func TestBindStopsAtAnError(t *testing.T) {
	client, errRefused := fake.NewClientset(), errors.New("refused")
	client.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errRefused })
	err := Bind(t.Context(), client.CoreV1().Pods("bench"), []*corev1.Binding{{ObjectMeta: metav1.ObjectMeta{Name: "g-0"}}}, 2)
	require.ErrorIs(t, err, errRefused)
	require.ErrorContains(t, err, "bind pod g-0 again")
}
