// SPDX-License-Identifier: Apache-2.0

package churn

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/paddle-volcano/paddle-volcano/test/bench/audit"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Figures are those of a window.
type Figures struct {
	// Jobs arrived in the window.
	Jobs int `json:"jobs"`
	// Pods were bound in it; Bound is the same per second.
	Pods  int     `json:"pods_bound"`
	Bound float64 `json:"pods_s"`
	// Held is the GPU-seconds of the pods from when they were bound until they had finished, by those of the cluster.
	Held float64 `json:"load_held"`
	// GangWait is from when the last pod of a gang was created to when the last was bound; PodWait is that of pods without a gang.
	// Both are of jobs that arrived in the window.
	GangWait times.Wait `json:"gang_wait_s"`
	PodWait  times.Wait `json:"pod_wait_s"`
	// Waiting jobs arrived in the window, and a pod of them was not bound when it ended. No wait has them.
	Waiting int `json:"jobs_waiting"`
	// Silent pods were bound in the window, and no Event Scheduled is about them.
	Silent int `json:"pods_without_event"`
}

// Sum returns the figures of the window from begin to end on a cluster of that many GPUs. The pods are those of the jobs, and scheduled
// are those that have an Event Scheduled.
func Sum(jobs []Job, pods map[string]*times.Pod, scheduled map[string]bool, begin, end time.Time, gpus int) Figures {
	var f Figures
	var gangs, alone []float64
	held := 0.0
	for i := range jobs {
		job, whole := &jobs[i], true
		var created, bound time.Time
		job.each(pods, func(role *cluster.Role, pod *times.Pod) {
			if pod == nil || pod.Bound.IsZero() || pod.Bound.After(end) {
				whole = false
				return
			}
			created, bound = latest(created, pod.Created), latest(bound, pod.Bound)
			to := end
			for _, at := range []time.Time{pod.Ended, pod.Deleted} {
				if !at.IsZero() && at.Before(to) {
					to = at
				}
			}
			held += float64(role.Request.GPU) * max(0, to.Sub(latest(pod.Bound, begin)).Seconds())
		})
		switch wait := max(0, bound.Sub(created).Seconds()); {
		case job.Before:
			continue
		case !whole:
			f.Waiting++
		case job.Pods() > 1:
			gangs = append(gangs, wait)
		default:
			alone = append(alone, wait)
		}
		f.Jobs++
	}
	for name, pod := range pods {
		if !pod.Bound.Before(begin) && !pod.Bound.After(end) {
			f.Pods++
			if !scheduled[name] {
				f.Silent++
			}
		}
	}
	f.Bound = float64(f.Pods) / end.Sub(begin).Seconds()
	f.Held = held / (float64(gpus) * end.Sub(begin).Seconds())
	f.GangWait, f.PodWait = times.WaitOf(gangs), times.WaitOf(alone)
	return f
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Scheduled returns the pod that a new Event of a scheduler reports as scheduled; empty for all other requests. Their bodies must be in
// the log.
func Scheduled(e *auditv1.Event) string {
	if audit.What(e) != "create events" || audit.Refused(e) || e.RequestObject == nil {
		return ""
	}
	var event corev1.Event
	if err := json.Unmarshal(e.RequestObject.Raw, &event); err != nil || event.Reason != "Scheduled" {
		return ""
	}
	return event.InvolvedObject.Name
}

// Dropped counts the Events that a recorder of client-go logged as dropped. It drops others without a word: those that too many wait
// before to be sent.
func Dropped(log io.Reader) (n int, err error) {
	lines := bufio.NewScanner(log)
	for lines.Buffer(nil, 1<<24); lines.Scan(); {
		if bytes.Contains(lines.Bytes(), []byte("too many queued events")) {
			n++
		}
	}
	return n, lines.Err()
}
