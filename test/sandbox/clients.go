// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/launch"
)

// startClients starts everything that talks to the API server.
func (st *starter) startClients(ctx context.Context) error {
	n := len(st.nodes)
	if err := st.add(component{name: ControllerManager, binary: st.binaries[programKCM.Name], args: controllerManagerArgs(st.layout, n)}); err != nil {
		return err
	}
	if err := st.add(component{name: Kwok, binary: st.binaries[programKwok.Name], args: append(kwokArgs(st.layout, n), st.realKwokArgs()...)}); err != nil {
		return err
	}
	if err := st.startNode(ctx); err != nil {
		return err
	}
	numbers, err := st.takePorts(6)
	if err != nil {
		return err
	}
	if err := st.addDeployed(ctx, VolcanoController, st.binaries[programVolcanoCM.Name], st.manifests.volcano, "volcano-controllers",
		volcanoControllerFlags(st.layout, numbers[0], numbers[1]), nil); err != nil {
		return err
	}
	if err := st.addDeployed(ctx, VolcanoWebhooks, st.binaries[programWebhooks.Name], st.manifests.volcano, "volcano-admission",
		webhookFlags(st.layout, st.webhookPort, numbers[2]), nil); err != nil {
		return err
	}
	if err := st.addDeployed(ctx, Scheduler, st.schedulerBinary(), st.schedulerManifest(), st.schedulerDeployment(),
		schedulerFlags(st.layout, Scheduler, st.layout.schedulerConf(), numbers[3], numbers[4]), nil); err != nil {
		return err
	}
	st.addresses[VolcanoController], st.addresses[Scheduler] = address(numbers[1]), address(numbers[4])
	if err := st.keepRivals(ctx); err != nil {
		return err
	}
	if len(st.manifests.trainer) > 0 {
		if err := st.startTrainer(ctx); err != nil {
			return err
		}
	}
	if st.options.WithoutController {
		return nil
	}
	st.addresses[Controller] = address(numbers[5])
	return st.addDeployed(ctx, Controller, st.binaries[programController.Name], st.manifests.operator, "",
		controllerFlags(st.layout, numbers[5]), st.options.ControllerArgs)
}

// schedulerDeployment returns the scheduler's name in Volcano's installer; the project's manifest has one Deployment only.
func (st *starter) schedulerDeployment() string {
	if st.manifests.scheduler == nil {
		return "volcano-scheduler"
	}
	return ""
}

func (st *starter) schedulerBinary() string {
	if st.options.StockScheduler {
		return st.binaries[programStock.Name]
	}
	return st.binaries[programScheduler.Name]
}

// addDeployed starts a component as its Deployment says.
func (st *starter) addDeployed(ctx context.Context, name, binary string, m *launch.Manifest, deployment string, override launch.Flags, more []string) error {
	c, err := st.deployed(ctx, name, binary, m, deployment, override)
	if err != nil {
		return err
	}
	c.args = append(c.args, more...)
	return st.add(c)
}

// deployed returns a component with the arguments, the variables and the service account of its Deployment.
func (st *starter) deployed(ctx context.Context, name, binary string, m *launch.Manifest, deployment string, override launch.Flags) (component, error) {
	d, err := m.Deployment(deployment)
	if err != nil {
		return component{}, err
	}
	run := launch.CommandOf(d, override)
	token, err := st.cluster.serviceAccountToken(ctx, run.Namespace, run.Account)
	if err != nil {
		return component{}, err
	}
	if err := writeKubeconfig(st.layout.kubeconfig(name), st.server, st.ca.PEM, run.Namespace, credentials{token: token}); err != nil {
		return component{}, err
	}
	return component{name: name, binary: binary, args: run.Args, env: append(run.Env, socketEnv)}, nil
}
