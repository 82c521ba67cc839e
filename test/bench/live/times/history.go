// SPDX-License-Identifier: Apache-2.0

package times

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/paddle-volcano/paddle-volcano/test/bench/audit"
)

// Pod is what happened to one pod. A time is zero where it has not happened.
type Pod struct {
	Created, Bound, Addressed, Running, Ended, Deleted time.Time
}

// History is what happened to the pods of one namespace.
type History struct {
	Namespace string
	Pods      map[string]*Pod
	// First is when the first thing was asked for in the namespace.
	First time.Time
	// Created, Bound and Running count pods.
	Created, Bound, Running int
	// Addressed are pods that have an IP, Ended those whose containers have; Environments are ConfigMaps that the watched user
	// made.
	Addressed, Ended, Environments int

	// Who place the pods, and what was asked since Watch.
	users []string
	begin time.Time
	// read is when the last list was answered that came before the first write.
	read   time.Time
	writes []*auditv1.Event
	calls  Calls
	// creations are when objects of each kind were created.
	creations map[string][]time.Time
}

// Calls are how often each user asked, by verb and resource, such as "create pods/binding".
type Calls map[string]map[string]int

// New returns the empty history of a namespace.
func New(namespace string) *History {
	return &History{Namespace: namespace, Pods: map[string]*Pod{}, calls: Calls{}, creations: map[string][]time.Time{}}
}

// Watch starts to count requests and to keep the writes of these users, who place the pods.
func (s *History) Watch(users ...string) {
	s.users, s.begin, s.read, s.writes, s.calls = users, time.Time{}, time.Time{}, nil, Calls{}
}

// See takes the next entry of the log.
func (s *History) See(e *auditv1.Event) {
	what := audit.What(e)
	if what == "" {
		return
	}
	user := e.User.Username
	if s.calls[user] == nil {
		s.calls[user] = map[string]int{}
	}
	s.calls[user][what]++
	placed := slices.Contains(s.users, user)
	if placed {
		s.work(e)
	}
	if e.ObjectRef.Namespace != s.Namespace || audit.Refused(e) {
		return
	}
	if at := e.RequestReceivedTimestamp.Time; s.First.IsZero() || at.Before(s.First) {
		s.First = at
	}
	if resource, ok := strings.CutPrefix(what, "create "); ok && resource != "events" && e.ObjectRef.Subresource == "" && e.ObjectRef.Name != "" {
		s.creations[resource] = append(s.creations[resource], e.StageTimestamp.Time)
	}
	switch done := e.StageTimestamp.Time; what {
	case "create pods":
		if e.ObjectRef.Name == "" { // the API server has yet to name it
			return
		}
		s.Created += set(&s.pod(e.ObjectRef.Name).Created, done)
	case "create pods/binding":
		s.Bound += set(&s.pod(e.ObjectRef.Name).Bound, done)
	case "delete pods":
		set(&s.pod(e.ObjectRef.Name).Deleted, done)
	case "patch pods/status":
		pod, status := s.pod(e.ObjectRef.Name), statusOf(e)
		if status.PodIP != "" {
			s.Addressed += set(&pod.Addressed, done)
		}
		switch status.Phase {
		case corev1.PodRunning:
			s.Running += set(&pod.Running, done)
		case corev1.PodSucceeded, corev1.PodFailed:
			s.Ended += set(&pod.Ended, done)
		}
	case "create configmaps":
		if placed {
			s.Environments++
		}
	}
}

// work records a request of a user who places the pods.
func (s *History) work(e *auditv1.Event) {
	if s.begin.IsZero() || e.RequestReceivedTimestamp.Time.Before(s.begin) {
		s.begin = e.RequestReceivedTimestamp.Time
	}
	switch e.Verb {
	case "create", "update", "patch", "delete":
		if !audit.Refused(e) {
			s.writes = append(s.writes, e)
		}
	case "list":
		if len(s.writes) == 0 && e.StageTimestamp.After(s.read) {
			s.read = e.StageTimestamp.Time
		}
	}
}

func (s *History) pod(name string) *Pod {
	if s.Pods[name] == nil {
		s.Pods[name] = &Pod{}
	}
	return s.Pods[name]
}

// set is 1 where the time was not known before.
func set(at *time.Time, to time.Time) int {
	if !at.IsZero() {
		return 0
	}
	*at = to
	return 1
}

// podStatus is what is read of a pod's status.
type podStatus struct {
	Phase corev1.PodPhase
	PodIP string
}

func statusOf(e *auditv1.Event) podStatus {
	var pod struct{ Status podStatus }
	_ = body(e, &pod)
	return pod.Status
}

// body is a request's body; of one that the policy does not write down, or that is no JSON, nothing is read.
func body(e *auditv1.Event, into any) error {
	if e.RequestObject == nil {
		return nil
	}
	return json.Unmarshal(e.RequestObject.Raw, into)
}

// Freed returns when the last of a gang's pods was deleted, Placed when the last was bound; zero where one was not.
func (s *History) Freed(gang string) time.Time {
	return s.last(gang, func(p *Pod) time.Time { return p.Deleted })
}

// Placed see Freed.
func (s *History) Placed(gang string) time.Time {
	return s.last(gang, func(p *Pod) time.Time { return p.Bound })
}

func (s *History) last(gang string, of func(*Pod) time.Time) time.Time {
	var last time.Time
	for name, pod := range s.Pods {
		if Gang(name) != gang {
			continue
		}
		at := of(pod)
		if at.IsZero() {
			return time.Time{}
		}
		last = later(last, at)
	}
	return last
}

// Gang returns the gang that a pod belongs to: names begin with the gang's, which has no dash.
func Gang(pod string) string {
	gang, _, _ := strings.Cut(pod, "-")
	return gang
}
