// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"strings"
)

// Gloo is how a process takes part in gloo's rendezvous.
type Gloo struct {
	// Level is 0 for off, 1 for trainers, 2 for trainers and servers.
	Level int
	// HTTP reports whether the rendezvous is an HTTP server at Host and Port. Otherwise it is a file system, which needs
	// variables that are the user's own.
	HTTP bool
	Host string
	Port int
	// Serves reports whether this process starts that server.
	Serves bool
}

// Ways to meet, as PADDLE_GLOO_RENDEZVOUS numbers them.
const (
	rendezvousHDFS = iota + 1
	rendezvousFile
	rendezvousHTTP
)

// PSGloo concludes what a process of parameter-server training does about gloo.
//
// Source: python/paddle/distributed/fleet/base/role_maker.py, PaddleCloudRoleMaker._gloo_init.
func PSGloo(env map[string]string, role PSRole) (Gloo, error) {
	return gloo(env, env["PADDLE_GLOO_HTTP_ENDPOINT"], role.Role == Server && role.Index == 0)
}

// CollectiveGloo concludes what a process of collective training does about gloo: the rendezvous is then at the endpoint
// of rank 0, and ignores PADDLE_GLOO_HTTP_ENDPOINT.
func CollectiveGloo(env map[string]string, role CollectiveRole) (Gloo, error) {
	first, _, _ := strings.Cut(env["PADDLE_TRAINER_ENDPOINTS"], ",")
	return gloo(env, first, role.Rank == 0)
}

func gloo(env map[string]string, endpoint string, first bool) (Gloo, error) {
	var g Gloo
	if _, ok := env["PADDLE_WITH_GLOO"]; !ok {
		return g, nil
	}
	level, err := integer(env, "PADDLE_WITH_GLOO")
	if err != nil {
		return g, err
	}
	if level != 1 && level != 2 {
		return g, nil
	}
	g.Level = level
	rendezvous, err := integer(env, "PADDLE_GLOO_RENDEZVOUS")
	if err != nil {
		return g, err
	}
	switch rendezvous {
	case rendezvousHDFS, rendezvousFile:
		return g, nil
	case rendezvousHTTP:
		g.HTTP, g.Serves = true, first
		if g.Host, g.Port, err = SplitEndpoint(endpoint); err != nil {
			return g, fmt.Errorf("gloo's HTTP endpoint: %w", err)
		}
		return g, nil
	}
	return g, fmt.Errorf("ValueError: PADDLE_GLOO_RENDEZVOUS is %d: it must be 1 (HDFS), 2 (file) or 3 (HTTP)", rendezvous)
}
