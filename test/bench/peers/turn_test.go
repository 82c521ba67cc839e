// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/limit"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/usage"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// bind is the entry of a binding that was answered at a second.
func bind(second int, user, pod, node string) *auditv1.Event {
	at := metav1.NewMicroTime(time.Unix(int64(second), 0))
	e := &auditv1.Event{
		Verb: "create", ObjectRef: &auditv1.ObjectReference{Namespace: load.Namespace, Resource: "pods", Subresource: "binding", Name: pod},
		ResponseStatus: &metav1.Status{Code: 201}, RequestReceivedTimestamp: at, StageTimestamp: at,
		RequestObject: &runtime.Unknown{Raw: fmt.Appendf(nil, `{"metadata":{"name":%q},"target":{"name":%q}}`, pod, node)},
	}
	e.User.Username = user
	return e
}

// Racks of 16 nodes: one gang is on two nodes of a rack, one in two racks, and one on one node. Ranks decide who is next in a ring, also
// where a Job's controller adds letters to names.
func TestPlacesAreReadFromTheLog(t *testing.T) {
	t.Parallel()
	history := times.New(load.Namespace)
	history.Watch("binder")
	for i, b := range [][2]string{
		{"g1-worker-0", "rack-0-node-0"}, {"g1-worker-1", "rack-0-node-1"},
		{"g2-0-x2wd9", "rack-0-node-0"}, {"g2-10-49257", "rack-1-node-0"}, {"g2-2-9vbbz", "rack-0-node-0"},
		{"g3-worker-0", "rack-1-node-1"}, {"g3-worker-1", "rack-1-node-1"},
	} {
		history.See(bind(i+1, "binder", b[0], b[1]))
	}
	bindings, err := limit.Bindings(history.Writes())
	require.NoError(t, err)
	p := placesOf(bindings, load.Cluster(32).Nodes())
	require.Equal(t, 2, p.OneRack)
	require.Equal(t, 2, p.Racks)
	// Both hosts of g1 send 2*1/2 GB, and those of g2 2*2/3 GB.
	require.InDelta(t, 2e9+8e9/3, p.Crossing.Nodes, 1)
	require.InDelta(t, 8e9/3, p.Crossing.Racks, 1)
	require.Zero(t, p.Crossing.Blocks)
	require.InDelta(t, 2, history.Work().PartlyBound.Max, 1e-6)
	require.Equal(t, []int{0, 10, 2, 7}, []int{rank("g2-0-x2wd9"), rank("g2-10-49257"), rank("g2-2-9vbbz"), rank("g-worker-7")})
}

func TestUseIsOfTheWholeSystem(t *testing.T) {
	t.Parallel()
	p, err := newPeer(kueue, kubernetes134, true)
	require.NoError(t, err)
	cpu, peak := p.used(map[string]usage.Process{
		kueue: {CPU: 1, Peak: 10}, sandbox.KubeScheduler: {CPU: 2, Peak: 20}, sandbox.ControllerManager: {CPU: 4, Peak: 40}, sandbox.APIServer: {CPU: 8, Peak: 80},
	})
	require.InDelta(t, 7, cpu, 1e-9)
	require.InDelta(t, 70, peak, 1e-9)
	require.Equal(t, 9, p.writes(times.Calls{
		"system:serviceaccount:kueue-system:kueue-controller-manager": {"patch pods": 2, "list pods": 50},
		"system:kube-scheduler": {"create pods/binding": 3}, "system:serviceaccount:kube-system:job-controller": {"create pods": 4},
		"sandbox-admin": {"create jobs": 1000},
	}))
}

func TestRowsAreMedians(t *testing.T) {
	t.Parallel()
	var r Report
	for round, rate := range []float64{10, 30, 20} {
		for _, way := range []string{EndToEnd, Alone} {
			turn := Turn{Scheduler: kai, Version: "v1", Case: "c", Round: round, Way: way, CPU: rate / 10, Unfit: 2 - round}
			turn.Bound, turn.OneRack, turn.PartlyBound.P99 = rate, round, rate/5
			if way == Alone {
				turn.Bound, turn.CPU, turn.Unfit = 2*rate, 100, 0
			}
			r.add(turn)
		}
	}
	r.add(Turn{Scheduler: kueue, Case: "c", Way: EndToEnd, Unbound: 5})
	require.Len(t, r.Peers, 2)
	row := r.Peers[0]
	require.Equal(t, Row{
		Scheduler: kai, Version: "v1", Case: "c", EndToEnd: 20, Alone: 40, PartlyBound: times.Wait{P99: 4}, OneRack: 1, CPU: 2, Unfit: 2,
	}, row)
	require.Equal(t, 5, r.Peers[1].Unbound)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	for _, key := range []string{"end_to_end_pods_s", "scheduler_pods_s", "partly_bound_s", "crossing_bytes", "cpu_s", "rss_mib", "writes_per_pod", "gangs_in_one_rack", "pods_s"} {
		require.Contains(t, string(text), `"`+key+`":`)
	}
}
