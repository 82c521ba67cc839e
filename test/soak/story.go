// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// mostStories bounds how many jobs are told about when a soak gives up.
const mostStories = 3

// stories tell all that the API server knows of the first jobs that the sentences name: the sandbox is gone soon.
func stories(ctx context.Context, p *live.Plane, jobs []*job, broken []string) string {
	var told []string
	for _, j := range jobs {
		if len(told) < mostStories && strings.Contains(strings.Join(broken, "\n"), j.String()) {
			told = append(told, story(ctx, p, j))
		}
	}
	return strings.Join(told, "")
}

func story(ctx context.Context, p *live.Plane, j *job) string {
	var b strings.Builder
	fmt.Fprintf(&b, "--- all about %s\n", j)
	for _, kind := range looked {
		list, err := p.Dynamic.Resource(kind).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			fmt.Fprintf(&b, "list %s: %v\n", kind.Resource, err)
			continue
		}
		for i := range list.Items {
			object := &list.Items[i]
			if name := object.GetName(); name != j.name && !strings.HasPrefix(name, j.name+"-") && object.GetLabels()[keys.JobName] != j.name {
				continue
			}
			object.SetManagedFields(nil)
			text, err := yaml.Marshal(object.Object)
			if err != nil {
				text = []byte(err.Error())
			}
			fmt.Fprintf(&b, "--- %s %s\n%s", kind.Resource, object.GetName(), text)
		}
	}
	events, err := p.Kube.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Fprintf(&b, "list events: %v\n", err)
		return b.String()
	}
	for i := range events.Items {
		e := &events.Items[i]
		if name := e.InvolvedObject.Name; name == j.name || strings.HasPrefix(name, j.name+"-") {
			fmt.Fprintf(&b, "--- event of %s %s: %s %s (%d times, %s)\n", e.InvolvedObject.Kind, name, e.Reason, e.Message, e.Count, e.LastTimestamp)
		}
	}
	return b.String()
}
