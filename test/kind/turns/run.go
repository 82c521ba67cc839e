// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/test/bench/audit"
	bench "github.com/paddle-volcano/paddle-volcano/test/bench/live"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/report"
	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// Schedulers puts one of those who have turns in place, and takes it away.
type Schedulers interface {
	// Start returns when the scheduler may be expected to work, or before.
	Start(ctx context.Context, name string) error
	// Stop returns when there is none.
	Stop(ctx context.Context) error
}

// Cluster is where turns are taken. No scheduler of Volcano's runs there between them.
type Cluster struct {
	*live.Plane
	Schedulers
	// Log is the path of the API server's audit log, by hack/kind/audit-policy.yaml.
	Log string
}

// Available are those who can take turns here: the limits and kube-scheduler would need a cluster in which nothing else goes on.
func Available() []string { return []string{bench.Stock, bench.Paddle} }

// Run takes all turns, and tells what came of them.
func Run(ctx context.Context, c Cluster, s bench.Settings, out, progress io.Writer) (err error) {
	for _, who := range s.Schedulers {
		if !slices.Contains(Available(), who) {
			return fmt.Errorf("scheduler %q takes no turns on such a cluster: want some of %v", who, Available())
		}
	}
	cases, err := s.Cases()
	if err != nil {
		return err
	}
	if err := c.namespace(ctx); err != nil {
		return err
	}
	log, err := audit.Open(c.Log)
	if err != nil {
		return err
	}
	p := &player{Cluster: c, log: log, patience: s.Patience}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := p.Stop(ctx); err != nil {
		return err
	}
	for i := range cases {
		of := &cases[i]
		for round := range s.Rounds {
			for turn := range s.Schedulers {
				who := s.Schedulers[(turn+round)%len(s.Schedulers)] // each round begins with another
				took, err := p.take(ctx, *of, who)
				if err != nil {
					return fmt.Errorf("turn of %s, %s: %w", who, of, err)
				}
				took.Round = round
				_, _ = fmt.Fprintf(progress, "%s: round %d: %s bound %.1f pods/s (%.1f s)\n", of, round+1, who, took.Bound, took.Seconds)
				of.Turns = append(of.Turns, took)
			}
		}
	}
	if err := bench.Tell(s, cases); err != nil {
		return err
	}
	return report.Show(filepath.Join(s.Folder, "live.json"), out)
}

// namespace makes the load's, which may be there from an earlier run, with what is in it.
func (c Cluster) namespace(ctx context.Context) error {
	_, err := c.Kube.CoreV1().Namespaces().Get(ctx, load.Namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return c.MakeNamespace(ctx, load.Namespace)
	}
	if err != nil {
		return fmt.Errorf("look for namespace %s: %w", load.Namespace, err)
	}
	return load.Clear(ctx, c.Plane)
}
