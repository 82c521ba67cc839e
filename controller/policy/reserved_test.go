// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// forged is a value for every key under which the controller keeps its state.
var forged = map[string]string{
	keys.JobName: "other", keys.Mode: "Single", keys.SpecHash: "0", keys.Intranet: string(v1.Host), keys.EarlierRestarts: "7",
	keys.Recreations: "3", keys.OwnPodGroup: "uid", keys.Gang: "gang", keys.Elastic: "true", keys.Announced: "true",
	keys.FirstPort: "20000", keys.Address: "10.9.9.9", keys.AnnouncedAt: "now", keys.Port: "20000",
	keys.PortRange: "20000", keys.Prefix + "of-a-later-release": "yes",
}

// The Volcano Job and its pods are the same whatever a user writes under our prefix; all other metadata is copied.
func TestUsersCannotSetTheControllersKeys(t *testing.T) {
	others := map[string]string{"team": "ads", "volcano.sh/preemptable": "true"}
	metadata := func(values ...map[string]string) change {
		return func(v *view.View) {
			all := map[string]string{}
			for _, m := range values {
				maps.Copy(all, m)
			}
			for _, to := range []*metav1.ObjectMeta{&v.Job.ObjectMeta, &v.Job.Spec.Worker.Template.ObjectMeta} {
				to.Labels, to.Annotations = maps.Clone(all), maps.Clone(all)
			}
		}
	}
	for name, spec := range map[string]change{
		"PodIP": func(*view.View) {},
		"Host":  func(v *view.View) { v.Job.Spec.Intranet = v1.Host },
		"elastic": func(v *view.View) {
			v.Job.Spec.PS, v.Job.Spec.Elastic = nil, new(int)
			v.Job.Spec.ElasticPolicy = &v1.ElasticPolicy{Etcd: "10.0.0.9:2379"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			rendered := func(values ...map[string]string) *view.View {
				v := submitted(spec, metadata(values...))
				plan := Decide(v, config)
				require.Nil(t, plan.Stalled)
				v.VolcanoJob = volcanoJobOf(t, plan)
				delete(v.VolcanoJob.Annotations, keys.SpecHash) // templates are part of the spec
				return v
			}
			want, got := rendered(others), rendered(others, forged)
			require.Equal(t, want.VolcanoJob, got.VolcanoJob)
			require.Equal(t, "ads", got.VolcanoJob.Labels["team"])
			require.Equal(t, "ads", got.VolcanoJob.Spec.Tasks[len(got.VolcanoJob.Spec.Tasks)-1].Template.Annotations["team"])
			require.Equal(t, "true", got.VolcanoJob.Annotations["volcano.sh/preemptable"])
		})
	}
}

func TestUsersKeysReachTheVolcanoJob(t *testing.T) {
	v := submitted(func(v *view.View) {
		v.Job.Annotations = map[string]string{keys.Colocation: "Required", keys.ParameterSize: "2Gi", keys.GroupSize: "8", keys.MinResources: "cpu=4"}
	})
	job := volcanoJobOf(t, Decide(v, config))
	require.Subset(t, job.Annotations, v.Job.Annotations)
	require.Subset(t, render.PodGroup(job, func(string) int32 { return 0 }).Annotations, v.Job.Annotations)
}
