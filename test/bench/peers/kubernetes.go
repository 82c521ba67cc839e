// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/programs"
)

// kubeScheduler137 is kube-scheduler 1.37 with its own gangs and topology.
const kubeScheduler137 = "kube-scheduler-1.37"

const (
	kubernetesModule = "hack/peers/kubernetes"
	kubernetesPath   = "k8s.io/kubernetes"
	// gangGates are off by default: the first one is beta, the second one alpha.
	gangGates = "--feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true"
)

// use137 has a sandbox run kube-apiserver 1.37.
func use137(o *sandbox.Options) {
	o.APIServer = &programs.Program{Name: "kube-apiserver-1.37", Module: kubernetesModule, Package: kubernetesPath + "/cmd/kube-apiserver"}
	o.Args = map[string][]string{
		sandbox.APIServer: {gangGates, "--runtime-config=scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true"},
	}
}

func newKubeScheduler() *peer {
	return &peer{
		module: kubernetesModule, path: kubernetesPath,
		options: sandbox.Options{StockScheduler: true, Rivals: true, Programs: []programs.Program{
			{Name: kubeScheduler137, Module: kubernetesModule, Package: kubernetesPath + "/cmd/kube-scheduler"},
		}},
		components: []string{kubeScheduler137}, users: []string{"system:kube-scheduler"},
		job: "kubernetes-pods.yaml", pods: "kubernetes-pods.yaml",
		install: func(ctx context.Context, at *site) error {
			return at.AddComponent(ctx, sandbox.Component{Name: kubeScheduler137, Program: kubeScheduler137, Args: []string{
				"--kubeconfig=" + at.ComponentKubeconfig(sandbox.KubeScheduler), "--leader-elect=false", "--secure-port=0",
				"--kube-api-qps=2000", "--kube-api-burst=2000", gangGates,
			}})
		},
	}
}
