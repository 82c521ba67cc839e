// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"time"

	"k8s.io/client-go/kubernetes/fake"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// Took is how long the parts of one session took.
type Took struct {
	Open, Close time.Duration
	// Allocate is the action's Execute alone; Others are the other actions.
	Allocate, Others time.Duration
}

// Whole is the whole session.
func (t Took) Whole() time.Duration { return t.Open + t.Allocate + t.Others + t.Close }

// Session runs one scheduling cycle and brings what it wrote back into the cache.
func (s *Scheduler) Session() (Took, error) {
	s.prepare()
	var took Took
	var ssn *framework.Session
	took.Open = timed(func() { ssn = framework.OpenSession(s.cache.SchedulerCache, s.tiers, nil) })
	for _, action := range s.actions {
		elapsed := timed(func() { action.Execute(ssn) })
		if action.Name() == "allocate" {
			took.Allocate = elapsed
		} else {
			took.Others += elapsed
		}
	}
	took.Close = timed(func() { framework.CloseSession(ssn) })
	if client, ok := s.cache.Client().(*fake.Clientset); ok {
		client.ClearActions()
	}
	_, err := s.cache.BringBack()
	return took, err
}

func timed(work func()) time.Duration {
	start := time.Now()
	work()
	return time.Since(start)
}
