// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/programs"
)

// Kueue as shipped, and with the limits and the concurrency of later versions. kube-scheduler binds the pods.
const kueue, kueueRaised = "kueue", "kueue-raised"

const (
	kueueModule    = "hack/peers/kueue"
	kueuePath      = "sigs.k8s.io/kueue"
	kueueNamespace = "kueue-system"
	kueueAccount   = "kueue-controller-manager"
	kubectl        = "kubectl"
)

func newKueue(raised, jobs bool) *peer {
	k := &kueueInstaller{raised: raised, jobs: jobs}
	return &peer{
		module: kueueModule, path: kueuePath,
		options: sandbox.Options{StockScheduler: true, Rivals: true, Programs: []programs.Program{
			{Name: kueue, Module: kueueModule, Package: kueuePath + "/cmd/kueue"}, {Name: kubectl, Module: "hack/kubectl", Package: "."},
		}},
		components: []string{kueue, sandbox.KubeScheduler},
		users:      []string{"system:serviceaccount:" + kueueNamespace + ":" + kueueAccount, "system:kube-scheduler"},
		helpers:    []string{sandbox.ControllerManager}, helperUsers: []string{"system:serviceaccount:kube-system:job-controller"},
		job: "kueue-job.yaml", pods: "kueue-pods.yaml", install: k.install, begin: k.begin,
	}
}

// kueueInstaller installs Kueue in two parts. The second one is its webhooks, because the API server refuses all pods while it has them
// and Kueue does not run.
type kueueInstaller struct {
	raised, jobs bool
	webhooks     []*unstructured.Unstructured
}

// install applies Kueue's manifests, and has Kueue run until it has created its certificates and converts its queues.
func (k *kueueInstaller) install(ctx context.Context, at *site) error {
	_, dir, err := programs.Module(ctx, kueueModule, kueuePath)
	if err != nil {
		return err
	}
	ports, err := at.TakePorts(3)
	if err != nil {
		return err
	}
	rendered, err := exec.CommandContext(ctx, at.Program(kubectl), "kustomize", filepath.Join(dir, "config", "default")).Output()
	if err != nil {
		return fmt.Errorf("render Kueue's manifests: %w", err)
	}
	needed, webhooks, err := kueueObjects(rendered, ports[2])
	if err != nil {
		return err
	}
	k.webhooks = webhooks
	if err := at.apply(ctx, "Kueue's objects", needed); err != nil {
		return err
	}
	certificates := filepath.Join(at.StateDir(), "kueue-certificates")
	conf, err := at.configure("kueue.conf", map[string]any{"Ports": ports, "Certificates": certificates, "Raised": k.raised, "Jobs": k.jobs})
	if err != nil {
		return err
	}
	if err := at.AddComponent(ctx, sandbox.Component{
		Name: kueue, Program: kueue, Namespace: kueueNamespace, Account: kueueAccount, Args: []string{"--config=" + conf, "--zap-log-level=2"},
		Env: []string{"POD_NAMESPACE=" + kueueNamespace, "KUBECONFIG=" + at.ComponentKubeconfig(kueue)},
	}); err != nil {
		return err
	}
	if err := at.StartComponent(kueue); err != nil {
		return err
	}
	if err := at.mountSecret(ctx, "kueue-webhook-server-cert", certificates); err != nil {
		return err
	}
	queues, err := objects("kueue-queues.yaml", []string{before, load.Namespace})
	if err != nil {
		return err
	}
	if err := at.apply(ctx, "Kueue's queues", queues); err != nil {
		return err
	}
	return at.Kill(kueue, syscall.SIGTERM)
}

func (k *kueueInstaller) begin(ctx context.Context, at *site) error {
	return at.apply(ctx, "Kueue's webhooks", k.webhooks)
}

// mountSecret writes the files of a Secret of Kueue's, as a kubelet would.
func (at *site) mountSecret(ctx context.Context, name, folder string) error {
	return at.Until(ctx, "Secret "+name, func(ctx context.Context) error {
		secret, err := at.Kube.CoreV1().Secrets(kueueNamespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && len(secret.Data) == 0 {
			err = errors.New("it has no data")
		}
		if err != nil {
			return err
		}
		// The folder appears with all files.
		if err := os.Mkdir(folder+".new", 0o700); err != nil {
			return err
		}
		for file, data := range secret.Data {
			if err := os.WriteFile(filepath.Join(folder+".new", file), data, 0o600); err != nil {
				return err
			}
		}
		return os.Rename(folder+".new", folder)
	})
}

// kueueObjects returns what Kueue's process needs of its manifests, and the configurations of its webhooks. The API server reaches the
// webhooks at a port of this machine: of a Service of type ExternalName it takes the name, and certificates are for the Service's own.
func kueueObjects(rendered []byte, port int) (needed, webhooks []*unstructured.Unstructured, err error) {
	all, err := manifests.Parse(rendered)
	if err != nil {
		return nil, nil, fmt.Errorf("read Kueue's manifests: %w", err)
	}
	for _, o := range all {
		kind := o.GetKind()
		switch {
		case kind == "Deployment", kind == "APIService", kind == "ConfigMap", kind == "Service" && o.GetName() != "kueue-webhook-service":
			continue
		case kind == "Service":
			o.Object["spec"] = map[string]any{"type": "ExternalName", "externalName": "localhost"}
		case strings.HasSuffix(kind, "WebhookConfiguration"):
			hooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
			if err != nil {
				return nil, nil, fmt.Errorf("read %s: %w", o.GetName(), err)
			}
			for _, hook := range hooks {
				hook, _ := hook.(map[string]any)
				if err := unstructured.SetNestedField(hook, int64(port), "clientConfig", "service", "port"); err != nil {
					return nil, nil, fmt.Errorf("change %s: %w", o.GetName(), err)
				}
			}
			o.Object["webhooks"] = hooks
			webhooks = append(webhooks, o)
			continue
		case kind == "CustomResourceDefinition":
			if _, converts, _ := unstructured.NestedMap(o.Object, "spec", "conversion", "webhook"); !converts {
				break
			}
			if err := unstructured.SetNestedField(o.Object, int64(port), "spec", "conversion", "webhook", "clientConfig", "service", "port"); err != nil {
				return nil, nil, fmt.Errorf("change %s: %w", o.GetName(), err)
			}
		}
		needed = append(needed, o)
	}
	return needed, webhooks, nil
}
