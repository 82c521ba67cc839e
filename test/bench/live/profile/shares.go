// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Share is the processor time of one owner.
type Share struct {
	Owner   string  `json:"owner"`
	Seconds float64 `json:"seconds"`
	Percent float64 `json:"percent"`
}

// Shares reads profiles, all as one.
func Shares(ctx context.Context, files []string) ([]Share, error) {
	if len(files) == 0 {
		return nil, nil
	}
	command := exec.CommandContext(ctx, "go", append([]string{"tool", "pprof", "-traces"}, files...)...)
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("read profiles with %s: %w", command, err)
	}
	return shares(string(text))
}

// shares adds up what `go tool pprof -traces` writes: stacks between lines of dashes, the innermost function first, with
// the time before it.
func shares(text string) ([]Share, error) {
	sums, total := map[string]time.Duration{}, time.Duration(0)
	var took time.Duration
	var stack []string
	flush := func() {
		if len(stack) > 0 {
			sums[owner(stack)] += took
			total += took
		}
		took, stack = 0, nil
	}
	header := true
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "-----") {
			header = false
			flush()
			continue
		}
		fields := strings.Fields(line)
		if header || len(fields) == 0 {
			continue
		}
		if len(stack) == 0 && len(fields) > 1 {
			var err error
			if took, err = time.ParseDuration(fields[0]); err != nil {
				return nil, fmt.Errorf("read a profile: %w", err)
			}
			fields = fields[1:]
		}
		stack = append(stack, fields[0])
	}
	flush()
	list := make([]Share, 0, len(sums))
	for who, sum := range sums {
		list = append(list, Share{Owner: who, Seconds: sum.Seconds(), Percent: 100 * sum.Seconds() / total.Seconds()})
	}
	slices.SortFunc(list, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Owner, b.Owner))
	})
	return list, nil
}

// ours begins the names of this project's packages.
const ours = "github.com/paddle-volcano/paddle-volcano/"

// owning says whose time that of a function is, by how its name begins.
type owning []struct{ begin, owner string }

// schedulers go before libraries: what they call in these, and in the runtime, is their own time.
var schedulers = owning{
	{ours + "plugins/paddle", "plugins/paddle"},
	{ours + "plugins/placement", "plugins/placement"},
	{"volcano.sh/volcano/pkg/scheduler/actions/", "volcano actions"},
	{"volcano.sh/volcano/pkg/scheduler/plugins/", "volcano plugins"},
	{"volcano.sh/volcano/pkg/scheduler/framework.OpenSession", "volcano opening sessions"},
	{"volcano.sh/volcano/pkg/scheduler/framework.openSession", "volcano opening sessions"},
	{"volcano.sh/volcano/pkg/scheduler/framework.CloseSession", "volcano closing sessions"},
	{"volcano.sh/volcano/pkg/scheduler/framework.closeSession", "volcano closing sessions"},
	{"volcano.sh/volcano/pkg/scheduler/framework.(*jobUpdater)", "volcano closing sessions"},
	{"volcano.sh/volcano/pkg/scheduler/framework", "volcano framework"},
	{"volcano.sh/volcano/pkg/scheduler/cache.(*SchedulerCache).Snapshot", "volcano snapshots"},
	{"volcano.sh/volcano/pkg/scheduler/cache.(*SchedulerCache).BindTask", "volcano binding"},
	{"volcano.sh/volcano/pkg/scheduler/cache.(*SchedulerCache).Bind", "volcano binding"},
	{"volcano.sh/volcano/pkg/scheduler/cache.(*DefaultBinder)", "volcano binding"},
	{"volcano.sh/volcano/pkg/scheduler/cache", "volcano cache"},
	{"volcano.sh/", "volcano, the rest"},
}

var libraries = owning{
	{"k8s.io/kubernetes/pkg/scheduler", "kube-scheduler's packages"},
	{"k8s.io/client-go/tools/record", "client-go events"},
	{"k8s.io/client-go/tools/cache", "client-go informers"},
	{"k8s.io/client-go/tools/watch", "client-go informers"},
	{"k8s.io/apimachinery/pkg/watch", "client-go informers"},
	{"k8s.io/", "k8s.io, the rest"},
	{"net/http", "net/http"},
	{"golang.org/x/net/http2", "net/http"},
	{"runtime.gcBgMarkWorker", "garbage collection"},
	{"runtime.bgsweep", "garbage collection"},
	{"runtime.bgscavenge", "garbage collection"},
}

// owner of a stack is that of its innermost function that has one.
func owner(stack []string) string {
	for _, list := range []owning{schedulers, libraries} {
		for _, function := range stack {
			for _, o := range list {
				if strings.HasPrefix(function, o.begin) {
					return o.owner
				}
			}
		}
	}
	return "Go's runtime, the rest"
}
