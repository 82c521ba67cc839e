// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/launch"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/programs"
)

const trainerModule = "hack/trainer"

// trainerControllers run TrainJobs. CRDs and webhooks are files of their modules; the configuration is what differs between them.
var trainerControllers = []struct {
	program                               programs.Program
	module, crds, webhooks, configuration string
}{
	{
		programs.Program{Name: JobSet, Module: trainerModule, Package: "sigs.k8s.io/jobset"}, "sigs.k8s.io/jobset",
		"config/components/crd/bases/*.yaml", "config/components/webhook/manifests.yaml",
		"apiVersion: config.jobset.x-k8s.io/v1alpha1\ninternalCertManagement: {enable: false}\n",
	},
	{
		programs.Program{Name: Trainer, Module: trainerModule, Package: "github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager"},
		"github.com/kubeflow/trainer/v2", "manifests/base/crds/trainer.*.yaml", "manifests/base/webhook/manifests.yaml",
		"apiVersion: config.trainer.kubeflow.org/v1alpha1\ncertManagement: {enable: false}\n",
	},
}

const trainerConfiguration = `kind: Configuration
webhook: {host: 127.0.0.1, port: %d}
health: {healthProbeBindAddress: "%s"}
metrics: {bindAddress: "0"}
leaderElection: {leaderElect: false}
`

// loadTrainer reads the webhooks of trainerControllers and returns the files of their CRDs.
func (m *manifests) loadTrainer(ctx context.Context) (crds []string, err error) {
	for _, c := range trainerControllers {
		_, dir, err := programs.Module(ctx, trainerModule, c.module)
		if err != nil {
			return nil, err
		}
		files, err := crdFiles(dir, c.crds)
		if err != nil {
			return nil, err
		}
		webhooks, err := launch.Read(filepath.Join(dir, c.webhooks))
		if err != nil {
			return nil, err
		}
		crds, m.trainer = append(crds, files...), append(m.trainer, webhooks)
	}
	return crds, nil
}

// startTrainer starts the controllers of TrainJobs one after the other. The API server calls their webhooks once they are ready.
func (st *starter) startTrainer(ctx context.Context) error {
	id, err := st.ca.Server(Trainer, nil)
	if err != nil {
		return err
	}
	// Where controller-runtime looks for certificates, below TMPDIR.
	certificates := filepath.Join(string(st.layout), "k8s-webhook-server", "serving-certs")
	if err := errors.Join(os.MkdirAll(certificates, 0o700),
		os.WriteFile(filepath.Join(certificates, "tls.crt"), id.Cert, 0o600),
		os.WriteFile(filepath.Join(certificates, "tls.key"), id.Key, 0o600)); err != nil {
		return fmt.Errorf("write certificates: %w", err)
	}
	for i, webhooks := range st.manifests.trainer {
		c := trainerControllers[i]
		numbers, err := st.takePorts(2)
		if err != nil {
			return err
		}
		file := filepath.Join(string(st.layout), c.program.Name+".yaml")
		text := c.configuration + fmt.Sprintf(trainerConfiguration, numbers[0], address(numbers[1]))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write the state folder: %w", err)
		}
		if err := st.add(component{
			name: c.program.Name, binary: st.binaries[c.program.Name], args: []string{"--config=" + file, "--kubeconfig=" + st.Kubeconfig()},
			env: []string{"TMPDIR=" + string(st.layout)},
		}); err != nil {
			return err
		}
		if err := until(ctx, c.program.Name+" to be ready", func(ctx context.Context) error {
			return healthy(ctx, "http://"+address(numbers[1])+"/readyz")
		}); err != nil {
			return err
		}
		if err := launch.RedirectWebhooks(webhooks.Objects, "https://"+address(numbers[0]), st.ca.PEM); err != nil {
			return err
		}
		for _, object := range webhooks.Objects {
			object.SetName(c.program.Name) // both modules use the same name
		}
		if err := st.cluster.apply(ctx, webhooks.Objects); err != nil {
			return err
		}
	}
	return nil
}
