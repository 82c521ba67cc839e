// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// chance is what differs between runs and has no meaning.
var chance = []struct {
	is  *regexp.Regexp
	now string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`\b10\.\d+\.\d+\.\d+\b`), "IP"},
	{regexp.MustCompile(`rack-\d+(-node-\d+)?`), "NODE"},
	{regexp.MustCompile(`"` + v1.GangAnnotation + `": "[^"]*"`), `"gang"`},
	{regexp.MustCompile(`\b2\d{4}\b`), "PORT"},
	// Volcano raises it with each of its own restarts of a gang, and again where its write was refused.
	{regexp.MustCompile(`"volcano.sh/job-version": "\d+"`), `"version"`},
	// A worker that succeeds before Volcano starts the gang again stays, with the count of the attempt before.
	{regexp.MustCompile(`"volcano.sh/job-retry-count": "\d+"`), `"retry count"`},
	// Only a controller that observed a restart knows its reason.
	{regexp.MustCompile(`"message": "restart \d+( of \d+)?: [^"]*"`), `"message": ""`},
	// Where one pod's address is a prefix of another's, the launcher is given no ports, and a condition says so.
	{regexp.MustCompile(`"PADDLE_(SERVERS|TRAINERS)_ENDPOINTS": "[^"]*"`), `"launcher"`},
	{regexp.MustCompile(`kube-api-access-\w+`), "TOKEN"},
}

// listers list the objects of each kind that a namespace can have, as informers see them: many scenarios read them often.
var listers = map[schema.GroupVersionResource]cache.GenericLister{}

// Kinds that the driver looks at.
var (
	paddleJobs  = v1.SchemeGroupVersion.WithResource("paddlejobs")
	volcanoJobs = vcbatch.SchemeGroupVersion.WithResource("jobs")
	podGroups   = vcscheduling.SchemeGroupVersion.WithResource("podgroups")
	configMaps  = corev1.SchemeGroupVersion.WithResource("configmaps")
)

// watchObjects starts the informers.
func watchObjects(p *live.Plane) error {
	kinds, err := p.Kinds()
	if err != nil {
		return err
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(p.Dynamic, 0)
	for _, kind := range kinds {
		listers[kind] = factory.ForResource(kind).Lister()
	}
	factory.Start(wait.NeverStop)
	for kind, synced := range factory.WaitForCacheSync(wait.NeverStop) {
		if !synced {
			return fmt.Errorf("list %s", kind)
		}
	}
	return nil
}

// objectsOf returns the objects of a kind in a namespace, which must not be changed.
func objectsOf(kind schema.GroupVersionResource, namespace string) ([]*unstructured.Unstructured, error) {
	objects, err := listers[kind].ByNamespace(namespace).List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", kind.Resource, err)
	}
	var found []*unstructured.Unstructured
	for _, object := range objects {
		if u, ok := object.(*unstructured.Unstructured); ok && !live.InEveryNamespace(u) {
			found = append(found, u)
		}
	}
	return found, nil
}

// essences keeps the essence of each version of each object: to work it out is most of a look.
var essences sync.Map

// objects returns everything in a namespace by kind and name, without what is left to chance and what each namespace has.
func objects(namespace string) (map[string]string, error) {
	all := map[string]string{}
	for kind := range listers {
		found, err := objectsOf(kind, namespace)
		if err != nil {
			return nil, err
		}
		for _, object := range found {
			version := string(object.GetUID()) + "/" + object.GetResourceVersion()
			known, ok := essences.Load(version)
			if !ok {
				key, text, err := essence(object.DeepCopy())
				if err != nil {
					return nil, err
				}
				known = [2]string{key, strings.ReplaceAll(text, namespace, "NAMESPACE")}
				essences.Store(version, known)
			}
			pair := known.([2]string) //nolint:errcheck,forcetypeassert // nothing else is stored
			all[pair[0]] = pair[1]
		}
	}
	return all, nil
}

// essence returns an object's kind and name, and its text.
func essence(object *unstructured.Unstructured) (key, text string, err error) {
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"} {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	switch object.GetKind() {
	case "Pod", "PodGroup": // what the scheduler and the kubelet write
		unstructured.RemoveNestedField(object.Object, "status", "conditions")
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", report.Annotation)
	case v1.Kind:
		if conditions, ok, _ := unstructured.NestedSlice(object.Object, "status", "conditions"); ok {
			conditions = slices.DeleteFunc(conditions, func(c any) bool {
				condition, ok := c.(map[string]any)
				return ok && condition["type"] == v1.ConditionLauncherUsable
			})
			if err := unstructured.SetNestedSlice(object.Object, conditions, "status", "conditions"); err != nil {
				return "", "", err
			}
		}
	case "Job": // Volcano's diary
		for _, field := range []string{"conditions", "runningDuration", "version"} {
			unstructured.RemoveNestedField(object.Object, "status", field)
		}
	}
	bytes, err := json.MarshalIndent(object.Object, "", " ")
	key, text = object.GetKind()+" "+object.GetName(), string(bytes)
	for _, c := range chance {
		key, text = c.is.ReplaceAllString(key, c.now), c.is.ReplaceAllString(text, c.now)
	}
	return key, text, err
}

func names(of map[string]string) []string { return slices.Sorted(maps.Keys(of)) }

const (
	// lookEvery is how long there is between two looks at every kind.
	lookEvery = 500 * time.Millisecond
	// settledAfter is how long nothing changes in a namespace that is settled. The status that a scenario waits for before has all
	// changes that the controller put off.
	settledAfter = 3 * time.Second
	// askEvery is how long there is between two questions about one object. Many scenarios ask.
	askEvery = 200 * time.Millisecond
	// patience is generous: what is waited for takes seconds.
	patience = 3 * time.Minute
)

// look reads all objects of the namespace until they are as expected, and returns the last state.
func (d *driver) look(wanted func(now map[string]string) bool) (last map[string]string, found bool) {
	d.t.Helper()
	err := wait.PollUntilContextTimeout(d.t.Context(), lookEvery, patience, true, func(context.Context) (bool, error) {
		now, err := objects(d.namespace)
		last = now
		return err == nil && wanted(now), err
	})
	return last, err == nil
}

// settled returns what is in the namespace once nothing changes any more.
func (d *driver) settled() map[string]string {
	d.t.Helper()
	var last map[string]string
	var since time.Time
	last, found := d.look(func(now map[string]string) bool {
		if !maps.Equal(now, last) {
			last, since = now, time.Now()
		}
		return time.Since(since) >= settledAfter
	})
	require.True(d.t, found, "what belongs to the job never settles")
	return last
}

// ofVolcano go with the Volcano Job, and may be left until then if its status is old (OnJobDelete in plugins/svc/svc.go, v1.14.1).
var ofVolcano = regexp.MustCompile("^(ConfigMap job-svc|Service job|EndpointSlice job-.*)$")

// awaitObjects waits until exactly these objects are there; while there are any, those of Volcano may be there, too.
func (d *driver) awaitObjects(what string, want map[string]string) {
	d.t.Helper()
	last, found := d.look(func(now map[string]string) bool {
		maps.DeleteFunc(now, func(name, _ string) bool { return want != nil && want[name] == "" && ofVolcano.MatchString(name) })
		return maps.Equal(now, want)
	})
	if found {
		return
	}
	for _, name := range names(want) {
		require.Equal(d.t, want[name], last[name], "gave up waiting for %s: %s differs (logs in %s)", what, name, cluster.StateDir())
	}
	require.Equal(d.t, names(want), names(last), "gave up waiting for %s (logs in %s)", what, cluster.StateDir())
}
