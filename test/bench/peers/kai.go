// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/programs"
)

// KAI as its operator runs it, and with the client-side limits raised.
const kai, kaiRaised = "kai", "kai-raised"

const (
	kaiModule    = "hack/peers/kai"
	kaiPath      = "github.com/NVIDIA/KAI-scheduler"
	kaiNamespace = "kai-scheduler"
	kaiScheduler = "kai-scheduler"
	kaiBinder    = "kai-binder"
)

func newKAI(raised bool) *peer {
	const users = "system:serviceaccount:" + kaiNamespace + ":"
	return &peer{
		module: kaiModule, path: kaiPath,
		options: sandbox.Options{StockScheduler: true, Programs: []programs.Program{
			{Name: kaiScheduler, Module: kaiModule, Package: kaiPath + "/cmd/scheduler"},
			{Name: kaiBinder, Module: kaiModule, Package: kaiPath + "/cmd/binder"},
		}},
		components: []string{kaiScheduler, kaiBinder}, users: []string{users + "scheduler", users + "binder"},
		job: "kai-pods.yaml", pods: "kai-pods.yaml",
		install: func(ctx context.Context, at *site) error { return installKAI(ctx, at, raised) },
	}
}

func installKAI(ctx context.Context, at *site, raised bool) error {
	_, dir, err := programs.Module(ctx, kaiModule, kaiPath)
	if err != nil {
		return err
	}
	needed, err := kaiObjects(dir)
	if err != nil {
		return err
	}
	if err := at.apply(ctx, "KAI's objects", needed); err != nil {
		return err
	}
	conf, err := at.configure("kai-scheduler.conf", nil)
	if err != nil {
		return err
	}
	ports, err := at.TakePorts(4)
	if err != nil {
		return err
	}
	scheduler := []string{
		"--scheduler-conf=" + conf, "--scheduler-name=kai-scheduler", "--namespace=" + kaiNamespace, "--metrics-namespace=kai",
		"--nodepool-label-key=kai.scheduler/node-pool", "--partition-label-value=", "--resource-reservation-app-label=kai-resource-reservation",
		fmt.Sprintf("--listen-address=127.0.0.1:%d", ports[0]), fmt.Sprintf("--plugin-server-port=%d", ports[1]),
	}
	binder := []string{fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", ports[2]), fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", ports[3])}
	if raised {
		scheduler = append(scheduler, "--qps=2000", "--burst=2000", "--max-consolidation-preemptees=0")
		binder = append(binder, "--qps=2000", "--burst=2000", "--max-concurrent-reconciles=100")
	} else {
		binder = append(binder, "--qps=20", "--burst=100") // the scheduler has its own defaults
	}
	for _, c := range []sandbox.Component{
		{Name: kaiScheduler, Account: "scheduler", Args: scheduler, Env: []string{"GOGC=400"}},
		{Name: kaiBinder, Account: "binder", Args: binder},
	} {
		c.Program, c.Namespace = c.Name, kaiNamespace
		c.Env = append(c.Env, "NAMESPACE="+kaiNamespace, "KUBECONFIG="+at.ComponentKubeconfig(c.Name))
		if err := at.AddComponent(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// kaiObjects returns what scheduler and binder need of KAI's module, and a topology.
func kaiObjects(dir string) ([]*unstructured.Unstructured, error) {
	all, err := objects("kai-objects.yaml", nil)
	if err != nil {
		return nil, err
	}
	const chart = "deployments/kai-scheduler/"
	for _, pattern := range []string{
		chart + "crds/*.yaml", chart + "templates/rbac/scheduler*.yaml", chart + "templates/rbac/binder*.yaml",
		chart + "templates/priorityclasses/train.yaml", "docs/quickstart/default-queues.yaml",
	} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, fmt.Errorf("find %s in KAI's module: %w", pattern, err)
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("find %s in KAI's module: there are none", pattern)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("read KAI's manifests: %w", err)
			}
			found, err := manifests.Parse([]byte(strings.ReplaceAll(string(text), "{{ .Release.Namespace }}", kaiNamespace)))
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", file, err)
			}
			all = append(all, found...)
		}
	}
	return all, nil
}
