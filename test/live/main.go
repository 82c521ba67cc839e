// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"strconv"
	"testing"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// SchedulePeriod is the scheduler's argument in tests: a fifth of the default, because most tests wait for some scheduling sessions.
const SchedulePeriod = "--schedule-period=200ms"

// Main is the body of a TestMain: it starts a sandbox, hands it to ready, runs the tests, stops the sandbox, whose logs
// stay for reading, and returns the exit code.
func Main(m *testing.M, options sandbox.Options, ready func(*Plane) error) (code int) {
	args := maps.Clone(options.Args)
	if args == nil {
		args = map[string][]string{}
	}
	args[sandbox.Scheduler] = append([]string{SchedulePeriod}, args[sandbox.Scheduler]...)
	options.Args = args
	s, err := sandbox.Start(context.Background(), options)
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the sandbox:", err)
		return 1
	}
	defer func() {
		if err := s.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the sandbox:", err)
			code = 1
		}
	}()
	p, err := Connect(s)
	if err == nil {
		err = ready(p)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "make the sandbox ready:", err)
		return 1
	}
	return m.Run()
}

// SideBySide has so many tests run at a time, however many cores there are: they wait. It is called before Main.
func SideBySide(tests int) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(tests)); err != nil {
		panic(err) // package testing has had this flag since Go 1
	}
}
