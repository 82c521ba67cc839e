// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/util"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// doubts remember what was found wrong in cluster and jobs, so that it is said once and not each second.
type doubts struct {
	network string
	jobs    map[types.UID]string // by PodGroup
	seen    map[types.UID]string // of this session
}

func newDoubts() *doubts {
	return &doubts{jobs: map[types.UID]string{}, seen: map[types.UID]string{}}
}

// next begins a session: jobs that were not seen in the last one are forgotten.
func (d *doubts) next() { d.jobs, d.seen = d.seen, map[types.UID]string{} }

// tellNetwork logs what is missing or contradictory in the cluster's network, when that changes.
func (d *doubts) tellNetwork(source string, warnings []string) {
	text := strings.Join(warnings, "; ")
	if text == d.network {
		return
	}
	if d.network = text; text != "" {
		klog.Warningf("The network is not known in full; jobs are placed by what is known (%s): %s", source, text)
	}
}

// isNews tells whether what is wrong with a job's annotations is to be said.
func (d *doubts) isNews(job *api.JobInfo, err error) bool {
	if err == nil {
		return false
	}
	d.seen[job.PodGroup.UID] = err.Error()
	return d.jobs[job.PodGroup.UID] != err.Error()
}

// tellWishes sends an event about annotations of a job that cannot be read.
func (p *plugin) tellWishes(job *api.JobInfo, err error) {
	if p.state.doubts.isNews(job, err) {
		text := strings.ReplaceAll(err.Error(), "\n", "; ") + "; the default holds"
		p.state.said.record(p.ssn, job, verdict{reason: report.InvalidAnnotation, text: text})
	}
}

// slices are the devices that DRA drivers publish; none where DRA is off.
func slicesOf(ssn *framework.Session) []*resourceapi.ResourceSlice {
	manager := ssn.SharedDRAManager()
	if manager == nil {
		return nil
	}
	slices, err := manager.ResourceSlices().ListWithDeviceTaintRules()
	if err != nil {
		klog.ErrorS(err, "Failed to list ResourceSlices; islands of GPUs are read from nodes")
		return nil
	}
	return slices
}

var errOtherShard = errors.New("node is not in this scheduler's shard")

// otherShard tells whether a node belongs to another scheduler, which allocate sees to itself.
func otherShard(ssn *framework.Session, node *api.NodeInfo) bool {
	return options.ServerOpts != nil && options.ServerOpts.ShardingMode == util.HardShardingMode && !ssn.NodesInShard.Has(node.Name)
}
