// SPDX-License-Identifier: Apache-2.0

// Package fakeapi serves objects over HTTP as an API server does, for tests of programs that only read a few kinds and write one.
package fakeapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Server holds objects by resource, and by namespace and name.
type Server struct {
	*httptest.Server
	// Forbidden are the resources that may not be read.
	Forbidden []string
	// ReadOnly forbids to create objects.
	ReadOnly bool
	// Invalid, if it is set, is what is wrong with every object that is created.
	Invalid string
	// HoldWatches keeps watches open until the client ends them.
	HoldWatches bool
	mu          sync.Mutex
	objects     map[string]map[string]*unstructured.Unstructured
}

// kinds are the resources that are served.
var kinds = map[string]string{
	"pods": "Pod", "nodes": "Node", "namespaces": "Namespace", "events": "Event", "services": "Service", "configmaps": "ConfigMap", "secrets": "Secret",
	"resourcequotas": "ResourceQuota", "deployments": "Deployment", "priorityclasses": "PriorityClass", "queues": "Queue", "podgroups": "PodGroup",
	"jobs": "Job", "hypernodes": "HyperNode", "paddlejobs": "PaddleJob", "customresourcedefinitions": "CustomResourceDefinition",
}

// New starts a server of objects of a scheme, which ends with the test.
func New(t *testing.T, scheme *runtime.Scheme, objects ...runtime.Object) *Server {
	t.Helper()
	s := &Server{objects: map[string]map[string]*unstructured.Unstructured{}}
	for _, object := range objects {
		gvks, _, err := scheme.ObjectKinds(object)
		if err != nil {
			t.Fatal(err)
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		stored := &unstructured.Unstructured{Object: content}
		stored.SetGroupVersionKind(gvks[0])
		s.store(stored)
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *Server) store(object *unstructured.Unstructured) {
	for resource, kind := range kinds {
		if kind == object.GetKind() {
			if s.objects[resource] == nil {
				s.objects[resource] = map[string]*unstructured.Unstructured{}
			}
			s.objects[resource][object.GetNamespace()+"/"+object.GetName()] = object
		}
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	groupVersion, parts := parts[1], parts[2:]
	if strings.HasPrefix(r.URL.Path, "/apis/") {
		groupVersion, parts = groupVersion+"/"+parts[0], parts[1:]
	}
	namespace := ""
	if len(parts) > 2 && parts[0] == "namespaces" {
		namespace, parts = parts[1], parts[2:]
	}
	w.Header().Set("Content-Type", "application/json")
	if len(parts) == 0 {
		write(w, http.StatusOK, &metav1.APIResourceList{GroupVersion: groupVersion})
		return
	}
	resource := parts[0]
	if slices.Contains(s.Forbidden, resource) {
		fail(w, http.StatusForbidden, metav1.StatusReasonForbidden, fmt.Sprintf(`User "u" cannot list resource %q`, resource))
		return
	}
	switch {
	case r.Method == http.MethodPost && s.ReadOnly:
		fail(w, http.StatusForbidden, metav1.StatusReasonForbidden, fmt.Sprintf(`User "u" cannot create resource %q`, resource))
	case r.Method == http.MethodPost && s.Invalid != "":
		fail(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, s.Invalid)
	case r.Method == http.MethodPost:
		object := &unstructured.Unstructured{}
		if err := json.NewDecoder(r.Body).Decode(&object.Object); err != nil {
			fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
			return
		}
		if r.URL.Query().Get("dryRun") == "" {
			s.store(object)
		}
		write(w, http.StatusCreated, object)
	case len(parts) > 1:
		s.one(w, r, groupVersion, resource, namespace+"/"+parts[1], parts[2:])
	case r.URL.Query().Get("watch") != "":
		for _, name := range slices.Sorted(maps.Keys(s.objects[resource])) {
			if object := s.objects[resource][name]; selected(object, r) {
				text, _ := object.MarshalJSON()
				_, _ = fmt.Fprintf(w, `{"type": "MODIFIED", "object": %s}`, text)
			}
		}
		if s.HoldWatches {
			_ = http.NewResponseController(w).Flush()
			s.mu.Unlock()
			<-r.Context().Done()
			s.mu.Lock()
		}
	default:
		list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": groupVersion, "kind": kinds[resource] + "List"}}
		for _, name := range slices.Sorted(maps.Keys(s.objects[resource])) {
			object := s.objects[resource][name]
			if (namespace == "" || object.GetNamespace() == namespace) && selected(object, r) {
				list.Items = append(list.Items, *object)
			}
		}
		write(w, http.StatusOK, list)
	}
}

// selected reports whether an object has the labels and fields that a request selects.
func selected(object *unstructured.Unstructured, r *http.Request) bool {
	byLabels, _ := labels.Parse(r.URL.Query().Get("labelSelector"))
	byFields, _ := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	return byLabels.Matches(labels.Set(object.GetLabels())) && !slices.ContainsFunc(byFields.Requirements(), func(f fields.Requirement) bool {
		value, _, _ := unstructured.NestedString(object.Object, strings.Split(f.Field, ".")...)
		return value != f.Value
	})
}

// one answers requests about one object. Patches change it as merge patches do.
func (s *Server) one(w http.ResponseWriter, r *http.Request, groupVersion, resource, name string, below []string) {
	object := s.objects[resource][name]
	switch {
	case object == nil:
		gv, _ := schema.ParseGroupVersion(groupVersion)
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", gv.WithResource(resource).GroupResource(), path.Base(name)))
	case len(below) > 0:
		_, _ = fmt.Fprintf(w, "what %s writes\n", object.GetName())
	case r.Method == http.MethodPatch:
		var patch map[string]any
		if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
			fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
			return
		}
		merge(object.Object, patch)
		write(w, http.StatusOK, object)
	case r.Method == http.MethodDelete:
		delete(s.objects[resource], name)
		write(w, http.StatusOK, &metav1.Status{Status: metav1.StatusSuccess})
	default:
		write(w, http.StatusOK, object)
	}
}

func merge(into, patch map[string]any) {
	for key, value := range patch {
		below, ok := value.(map[string]any)
		if !ok {
			into[key] = value
			continue
		}
		is, ok := into[key].(map[string]any)
		if !ok {
			is = map[string]any{}
			into[key] = is
		}
		merge(is, below)
	}
}

func write(w http.ResponseWriter, code int, object any) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object) //nolint:errchkjson // objects of the API have JSON
}

func fail(w http.ResponseWriter, code int32, reason metav1.StatusReason, message string) {
	write(w, int(code), &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	})
}
