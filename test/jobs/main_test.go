// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"os"
	"testing"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// resync makes the controller reconcile every job again and again, so that needless writes show.
const resync = time.Second

// cluster is the sandbox that all tests of this package share. Those that end one of its components are not parallel.
var cluster *live.Plane

func TestMain(m *testing.M) {
	live.SideBySide(12)
	os.Exit(live.Main(m, sandbox.Options{
		StateDir: "../../_output/test-jobs", Progress: os.Stderr, SchedulerConf: preempting,
		ControllerArgs: []string{
			"--resync-period=" + resync.String(), "-v=3",
			// With the shipped permissions.
			"--leader-elect=true", "--leader-elect-retry-period=500ms",
		},
	}, func(p *live.Plane) (err error) {
		cluster = p
		kinds, err = p.Kinds()
		return err
	}))
}
