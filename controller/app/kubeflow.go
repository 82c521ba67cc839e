// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"sync"

	"k8s.io/client-go/tools/record"

	"github.com/paddle-volcano/paddle-volcano/controller/legacy/kubeflow"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob"
)

// newKubeflow makes what runs Kubeflow's PaddleJobs.
func newKubeflow(o *Options, f *leaderWriteGuard, clients paddlejob.Clients, recorder record.EventRecorder) (*kubeflow.Controller, error) {
	config, err := configOf(o, f)
	if err != nil {
		return nil, err
	}
	jobs, err := kubeflow.NewJobs(config)
	if err != nil {
		return nil, err
	}
	return kubeflow.New(kubeflow.Clients{Jobs: jobs, Paddle: clients.Paddle, Kube: clients.Kube}, recorder, kubeflow.Options{
		Namespace: o.Namespace, Workers: o.Workers, Resync: o.ResyncPeriod, Etcd: o.ElasticEtcd != "",
	})
}

// runBoth runs two controllers, and ends when both have.
func runBoth(one, other func(context.Context)) func(context.Context) {
	return func(ctx context.Context) {
		var running sync.WaitGroup
		running.Add(1)
		go func() {
			defer running.Done()
			other(ctx)
		}()
		one(ctx)
		running.Wait()
	}
}
