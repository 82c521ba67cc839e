// SPDX-License-Identifier: Apache-2.0

// Command bench measures on the cluster of make kind-up; only flags live here.
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
	"github.com/paddle-volcano/paddle-volcano/test/kind/turns"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

func main() {
	s := bench.Default()
	s.Gangs, s.Scale, s.Schedulers, s.Rounds = []string{"500x20"}, 0.1, turns.Available(), 2
	pflag.StringVar(&s.Folder, "out", "_output/bench/kind", "folder for live.json")
	pflag.StringSliceVar(&s.Gangs, "cases", s.Gangs, "gangs and their size, before they are scaled")
	pflag.StringSliceVar(&s.Forms, "forms", s.Forms, fmt.Sprintf("some of %v", load.Forms()))
	pflag.StringSliceVar(&s.Schedulers, "schedulers", s.Schedulers, fmt.Sprintf("some of %v", turns.Available()))
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
	nodes, err := plane.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: sandbox.TaintSimulated})
	if err != nil {
		return fmt.Errorf("count the simulated nodes: %w", err)
	}
	s.Nodes = []int{len(nodes.Items)}
	schedulers := &turns.Deployments{Plane: plane, Objects: objects, Manifests: os.DirFS(folder)}
	err = turns.Run(ctx, turns.Cluster{Plane: plane, Schedulers: schedulers, Log: log}, s, os.Stdout, os.Stderr)
	// Whatever has happened the cluster is left with ours.
	return errors.Join(err, schedulers.Start(context.WithoutCancel(ctx), bench.Paddle))
}
