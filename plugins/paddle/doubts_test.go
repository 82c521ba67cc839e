// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

func TestWhatIsWrongWithAJobIsSaidOnce(t *testing.T) {
	job := api.NewJobInfo("ns/j")
	job.PodGroup = &api.PodGroup{PodGroup: scheduling.PodGroup{}}
	job.PodGroup.UID = "j"
	bad, worse := errors.New("bad"), errors.New("worse")
	d := newDoubts()
	for i, step := range []struct {
		err  error
		news bool
	}{
		{nil, false}, {bad, true}, {bad, false}, {worse, true}, {nil, false},
		{worse, true}, // it was mended for a while: that was not remembered
	} {
		d.next()
		require.Equal(t, step.news, d.isNews(job, step.err), "session %d", i)
	}
	d.next()
	d.next()
	require.Empty(t, d.jobs, "a job that is gone is forgotten")
}

func TestAWrongAnnotationIsAnEventAndTheDefaultHolds(t *testing.T) {
	group := podGroup("j", 2, map[string]int32{"worker": 2})
	group.Annotations = map[string]string{paddlejob.ColocationAnnotation: "close"}
	c := newCluster(t, shipped, gpuNode("n1", "r1", 2), group, pods("j", "worker", 2, onGPU))
	events := c.listen()
	c.session()
	c.session()
	require.Equal(t, []string{"Warning InvalidAnnotation annotation batch.paddlepaddle.org/colocation is \"close\"; " +
		"write Required, Preferred or None; the default holds"}, events())
	require.Equal(t, map[string]string{"j-worker-0": "n1", "j-worker-1": "n1"}, c.nodes())
}
