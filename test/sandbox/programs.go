// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/programs"
)

const (
	kwokModule = "hack/kwok"
	dnsModule  = "hack/coredns"
)

var (
	programEtcd       = programs.Program{Name: "etcd", Module: programs.Plane, Package: "go.etcd.io/etcd/server/v3"}
	programAPIServer  = programs.Program{Name: "kube-apiserver", Module: programs.Plane, Package: "k8s.io/kubernetes/cmd/kube-apiserver"}
	programKCM        = programs.Program{Name: "kube-controller-manager", Module: programs.Plane, Package: "k8s.io/kubernetes/cmd/kube-controller-manager"}
	programVolcanoCM  = programs.Program{Name: "vc-controller-manager", Module: programs.Plane, Package: "volcano.sh/volcano/cmd/controller-manager"}
	programWebhooks   = programs.Program{Name: "vc-webhook-manager", Module: programs.Plane, Package: "volcano.sh/volcano/cmd/webhook-manager"}
	programStock      = programs.Program{Name: "vc-scheduler", Module: programs.Plane, Package: "volcano.sh/volcano/cmd/scheduler"}
	programKubeSched  = programs.Program{Name: "kube-scheduler", Module: programs.Plane, Package: "k8s.io/kubernetes/cmd/kube-scheduler"}
	programKwok       = programs.Program{Name: "kwok", Module: kwokModule, Package: "sigs.k8s.io/kwok/cmd/kwok"}
	programScheduler  = programs.Program{Name: "paddle-scheduler", Module: programs.Sources, Package: "./cmd/paddle-scheduler"}
	programController = programs.Program{Name: "paddlejob-controller", Module: programs.Sources, Package: "./cmd/paddlejob-controller"}
	programKubelet    = programs.Program{Name: "kubelet", Module: programs.Plane, Package: "k8s.io/kubernetes/cmd/kubelet"}
	programKubeadm    = programs.Program{Name: "kubeadm", Module: programs.Plane, Package: "k8s.io/kubernetes/cmd/kubeadm"}
	programKubeProxy  = programs.Program{Name: "kube-proxy", Module: programs.Plane, Package: "k8s.io/kubernetes/cmd/kube-proxy"}
	programCoreDNS    = programs.Program{Name: "coredns", Module: dnsModule, Package: "."}
	programBarrier    = programs.Program{Name: "paddle-barrier", Module: programs.Sources, Package: "./cmd/paddle-barrier"}
	programBox        = programs.Program{Name: "paddle-box", Module: programs.Sources, Package: "./test/sandbox/box/paddle-box"}
)

func (o *Options) apiServer() programs.Program {
	if o.APIServer != nil {
		return *o.APIServer
	}
	return programAPIServer
}

// programs lists what a sandbox with these options runs.
func (o *Options) programs() []programs.Program {
	list := []programs.Program{o.apiServer(), programKCM, programEtcd, programVolcanoCM, programWebhooks, programKwok}
	if o.StockScheduler {
		list = append(list, programStock)
	} else {
		list = append(list, programScheduler)
	}
	if !o.WithoutController {
		list = append(list, programController)
	}
	if o.Rivals {
		if !slices.Contains(list, programStock) {
			list = append(list, programStock)
		}
		list = append(list, programKubeSched)
	}
	if o.Trainer {
		for _, c := range trainerControllers {
			list = append(list, c.program)
		}
	}
	if o.Real != nil {
		list = append(list, programKubelet, programCoreDNS, programBox)
		if !o.WithoutController {
			list = append(list, programBarrier)
		}
	}
	if o.Kubeadm {
		list = append(list, programKubeadm, programKubeProxy, programKubeSched)
	}
	return append(list, o.Programs...)
}

// Build creates every binary that a sandbox with these options needs, in _output/bin of the clone, and returns their
// paths by name. What is there already from the same pins is not built again.
func Build(ctx context.Context, o Options) (map[string]string, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	return programs.Build(ctx, o.root, o.programs(), o.progress().say)
}
