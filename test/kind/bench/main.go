// SPDX-License-Identifier: Apache-2.0

// Command bench has Volcano's scheduler and the project's bind the same gangs in turn on the cluster of make kind-up. Load, times and
// report are those of the benchmark on a sandbox (test/bench/live).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	bench "github.com/paddle-volcano/paddle-volcano/test/bench/live"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// schedulers are those that can take turns on such a cluster, in which other programs of Kubernetes run too.
var schedulers = []string{bench.Stock, bench.Paddle}

func main() {
	s := bench.Default()
	s.Gangs, s.Scale, s.Schedulers, s.Rounds = []string{"500x20"}, 0.1, schedulers, 2
	pflag.StringVar(&s.Folder, "out", "_output/bench/kind", "folder for live.json")
	pflag.StringSliceVar(&s.Gangs, "cases", s.Gangs, "gangs and their size, before they are scaled")
	pflag.StringSliceVar(&s.Forms, "forms", s.Forms, fmt.Sprintf("some of %v", load.Forms()))
	pflag.StringSliceVar(&s.Schedulers, "schedulers", s.Schedulers, fmt.Sprintf("some of %v", schedulers))
	pflag.Float64Var(&s.Scale, "scale", s.Scale, "how much of the cases is submitted")
	pflag.IntVar(&s.Rounds, "rounds", s.Rounds, "rounds of each scheduler in each case")
	pflag.DurationVar(&s.Patience, "patience", s.Patience, "how long a turn may go without any progress")
	kubeconfig := pflag.String("kubeconfig", "_output/kind/kubeconfig", "of the cluster")
	log := pflag.String("audit-log", "_output/kind/audit/audit.log", "of the cluster's API server")
	folder := pflag.String("manifests", "_output/kind/manifests", "folder with the schedulers' manifests")
	pflag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s, *kubeconfig, *log, *folder); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be stopped
	}
}

func run(ctx context.Context, s bench.Settings, kubeconfig, log, folder string) error {
	if err := check(s); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("read the cluster's kubeconfig: %w", err)
	}
	config.QPS = -1
	plane, err := live.ConnectTo(config)
	if err != nil {
		return err
	}
	objects, err := manifests.NewClient(config)
	if err != nil {
		return err
	}
	nodes, err := plane.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: topology.TaintSimulated})
	if err != nil {
		return fmt.Errorf("count the simulated nodes: %w", err)
	}
	s.Nodes = []int{len(nodes.Items)}
	p := &player{Plane: plane, objects: objects, manifests: os.DirFS(folder), patience: s.Patience}
	err = p.takeTurns(ctx, s, log)
	// Whatever has happened, the project's scheduler stays in the cluster.
	return errors.Join(err, p.start(context.WithoutCancel(ctx), bench.Paddle))
}
