// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// AwaitJob waits until a PaddleJob is as it is wanted, and returns it.
func (p *Plane) AwaitJob(t testing.TB, namespace, name, what string, want func(*v1.PaddleJob) bool) *v1.PaddleJob {
	t.Helper()
	var last *v1.PaddleJob
	p.Await(t, name+" to be "+what, func(ctx context.Context) error {
		fresh, err := p.Paddle.BatchV1().PaddleJobs(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if last = fresh; !want(fresh) {
			text, err := json.Marshal(fresh.Status)
			return errors.Join(fmt.Errorf("its status is %s", text), err)
		}
		return nil
	})
	return last
}

// AwaitEvent waits for an event about a PaddleJob whose message has all words in it, and returns the message.
func (p *Plane) AwaitEvent(t testing.TB, namespace, name, kind, reason string, words ...string) string {
	t.Helper()
	var message string
	p.Await(t, "event "+reason+" of "+name, func(ctx context.Context) error {
		events, err := p.Kube.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=PaddleJob,involvedObject.name=" + name})
		if err != nil {
			return err
		}
		var seen []string
		for i := range events.Items {
			e := &events.Items[i]
			missing := e.Type != kind || e.Reason != reason
			for _, word := range words {
				missing = missing || !strings.Contains(e.Message, word)
			}
			if !missing {
				message = e.Message
				return nil
			}
			seen = append(seen, fmt.Sprintf("%s %s: %s", e.Type, e.Reason, e.Message))
		}
		return errors.New("there are: " + strings.Join(seen, "; "))
	})
	return message
}
