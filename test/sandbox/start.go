// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// startLimit is generous: a ready sandbox takes seconds, also on a busy machine less than a minute, and about 20 ms more
// for each node.
func startLimit(nodes int) time.Duration {
	return 5*time.Minute + time.Duration(nodes)*100*time.Millisecond
}

// Start builds what is missing, starts a sandbox and returns it when pods can be scheduled in it. It lives until Stop,
// or until this process ends; ctx bounds the start only.
func Start(ctx context.Context, o Options) (*Sandbox, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := o.allowed(); err != nil {
		return nil, err
	}
	m, err := loadManifests(ctx, &o)
	if err != nil {
		return nil, err
	}
	lock, err := layout(o.StateDir).claim()
	if err != nil {
		return nil, err
	}
	nodes := o.simulatedNodes()
	s := &Sandbox{
		layout: layout(o.StateDir), progress: o.progress(), lock: lock, ports: &ports{},
		components: map[string]component{}, addresses: map[string]string{}, processes: map[string]*process{}, failed: make(chan error, 1),
	}
	s.record = &Record{PID: os.Getpid(), Started: time.Now(), Kubeconfig: s.Kubeconfig(), Nodes: len(nodes)}
	st := &starter{Sandbox: s, options: &o, manifests: m, nodes: nodes}
	if err := st.run(ctx); err != nil {
		s.mu.Lock()
		s.record.Failure = err.Error()
		s.mu.Unlock()
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (st *starter) run(ctx context.Context) error {
	if err := st.layout.write(st.record); err != nil {
		return err
	}
	binaries, err := Build(ctx, *st.options)
	if err != nil {
		return err
	}
	st.binaries = binaries
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := startLimit(len(st.nodes))
	timer := time.AfterFunc(limit, func() { cancel(fmt.Errorf("the sandbox was not ready after %s", limit)) })
	defer timer.Stop()
	// A component that dies ends every wait at once.
	go func() {
		select {
		case err := <-st.failed:
			cancel(err)
			st.report(err)
		case <-ctx.Done():
		}
	}()
	began := time.Now()
	if err := st.prepare(); err != nil {
		return err
	}
	st.progress.say("starting etcd and kube-apiserver")
	if err := st.startServers(ctx); err != nil {
		return err
	}
	st.progress.say("installing Volcano's and our own CRDs and rights, and %d nodes", len(st.nodes))
	if err := st.install(ctx); err != nil {
		return err
	}
	st.progress.say("starting kube-controller-manager, kwok, Volcano and our own components")
	if err := st.startClients(ctx); err != nil {
		return err
	}
	group, waits := errgroup.WithContext(ctx)
	for _, wait := range []func(context.Context) error{
		st.cluster.nodesReady, st.cluster.webhooksReady, st.cluster.queueReady, st.cluster.namespaceReady, st.controllerReady, st.realReady,
	} {
		group.Go(func() error { return wait(waits) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	st.mu.Lock()
	st.record.Ready = true
	err = st.layout.write(st.record)
	st.mu.Unlock()
	if err != nil {
		return err
	}
	st.progress.say("ready after %.1f s: %d nodes", time.Since(began).Seconds(), len(st.nodes))
	return nil
}

// install makes the CRDs first: kube-controller-manager, which is started afterwards, then knows them at once.
func (st *starter) install(ctx context.Context) error {
	volcano := st.manifests.volcano.rights()
	if err := local(volcano, "https://"+address(st.webhookPort), st.ca.pem); err != nil {
		return err
	}
	if st.manifests.scheduler != nil {
		// Ours may run under the name of Volcano's, and must show that its own rights are enough.
		d, err := st.manifests.scheduler.deployment("")
		if err != nil {
			return err
		}
		run := launchOf(d, nil)
		volcano = withoutBindings(volcano, run.namespace, run.account)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return st.cluster.applyCRDs(ctx, st.manifests.crds) })
	group.Go(func() error { return st.cluster.createNodes(ctx, st.nodes) })
	scheduler, err := shownScheduler(st.schedulerManifest())
	if err != nil {
		return err
	}
	group.Go(func() error {
		// Ours come last, so that they win where they change what Volcano's installer makes.
		for _, objects := range [][]*unstructured.Unstructured{
			slices.Concat(volcano, kwokRights(), st.realRights()), rightsOf(st.manifests.operator), append(rightsOf(st.manifests.scheduler), scheduler),
		} {
			if err := st.cluster.apply(ctx, objects); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// shownScheduler returns a Deployment that shows how the scheduler is configured. It has no replicas: the scheduler is a process.
func shownScheduler(m *manifest) (*unstructured.Unstructured, error) {
	d, err := m.deployment("volcano-scheduler")
	if err != nil {
		return nil, err
	}
	d.Name, d.Spec.Replicas, d.Labels = "sandbox-scheduler", ptr.To[int32](0), nil
	d.Spec.Template.Labels = map[string]string{"app": d.Name}
	d.Spec.Selector = metav1.SetAsLabelSelector(d.Spec.Template.Labels)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(d)
	if err != nil {
		return nil, fmt.Errorf("write Deployment %s: %w", d.Name, err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

func rightsOf(m *manifest) []*unstructured.Unstructured {
	if m == nil {
		return nil
	}
	return m.rights()
}
