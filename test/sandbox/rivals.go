// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"
	"os"
)

// keepRivals makes other schedulers ready beside the one that runs: Volcano's own with Volcano's own configuration, and
// Kubernetes'. Volcano's has the service account, and so the rights, of the one that runs: ours must be enough for it.
func (st *starter) keepRivals(ctx context.Context) error {
	if !st.options.Rivals {
		return nil
	}
	conf, err := st.manifests.volcano.configMapValue(schedulerConfigMap, "volcano-scheduler.conf")
	if err != nil {
		return err
	}
	if err := os.WriteFile(st.layout.volcanoConf(), []byte(conf), 0o600); err != nil {
		return fmt.Errorf("write the state folder: %w", err)
	}
	numbers, err := st.takePorts(2)
	if err != nil {
		return err
	}
	volcano, err := st.deployed(ctx, VolcanoScheduler, st.binaries[buildStock.name], st.manifests.volcano, "volcano-scheduler",
		schedulerFlags(st.layout, VolcanoScheduler, st.layout.volcanoConf(), numbers[0], numbers[1]))
	if err != nil {
		return err
	}
	st.keep(volcano)
	st.addresses[VolcanoScheduler] = address(numbers[1])

	id, err := st.ca.client("system:kube-scheduler")
	if err != nil {
		return err
	}
	if err := writeKubeconfig(st.layout.kubeconfig(KubeScheduler), st.server, st.ca.pem, "", credentials{identity: id}); err != nil {
		return err
	}
	st.keep(component{name: KubeScheduler, binary: st.binaries[buildKubeSched.name], args: kubeSchedulerArgs(st.layout)})
	return nil
}

// kubeSchedulerArgs are its defaults, but that it asks the API server as often as Volcano's does.
func kubeSchedulerArgs(l layout) []string {
	return flags{
		"kubeconfig": l.kubeconfig(KubeScheduler), "leader-elect": "false", "secure-port": "0",
		"kube-api-qps": "2000", "kube-api-burst": "2000",
	}.args()
}
