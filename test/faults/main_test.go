// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"os"
	"testing"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// cluster is the sandbox that all tests of this package share. Those that end what all need are not parallel.
var cluster *live.Plane

// sideBySide is how many scenarios there are at a time: as many as two cores have work for.
const sideBySide = 16

// thorough reports whether to try all that can be tried (TEST_ALL), and not only a part of it.
var thorough = live.All()

func TestMain(m *testing.M) {
	live.SideBySide(sideBySide)
	os.Exit(live.Main(m, sandbox.Options{
		StateDir: "../../_output/test-faults", Progress: os.Stderr,
		// The sandbox's own controller has nothing to do here: each scenario has one.
		ControllerArgs: []string{"--namespace=nobodys"},
	}, func(p *live.Plane) error {
		cluster = p
		if err := watchObjects(p); err != nil {
			return err
		}
		return allowLeases(p)
	}))
}
