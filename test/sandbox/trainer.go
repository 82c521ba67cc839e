// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const trainerModule = "hack/trainer"

// trainerControllers run TrainJobs. The files are in their modules.
var trainerControllers = []struct {
	build                        build
	component, module            string
	crds, webhooks               string
	configuration, certification string
}{
	{
		build{name: "jobset", module: trainerModule, pkg: "sigs.k8s.io/jobset", stamped: true}, JobSet, "sigs.k8s.io/jobset",
		"config/components/crd/bases/*.yaml", "config/components/webhook/manifests.yaml",
		"config.jobset.x-k8s.io/v1alpha1", "internalCertManagement",
	},
	{
		build{name: "trainer-controller-manager", module: trainerModule, pkg: "github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager", stamped: true},
		Trainer, "github.com/kubeflow/trainer/v2", "manifests/base/crds/trainer.*.yaml", "manifests/base/webhook/manifests.yaml",
		"config.trainer.kubeflow.org/v1alpha1", "certManagement",
	},
}

const trainerConfiguration = `apiVersion: %s
kind: Configuration
webhook: {host: 127.0.0.1, port: %d}
health: {healthProbeBindAddress: "%s"}
metrics: {bindAddress: "0"}
leaderElection: {leaderElect: false}
%s: {enable: false}
`

// startTrainer installs and starts the controllers of TrainJobs, one after the other, and waits until they are ready.
func (st *starter) startTrainer(ctx context.Context) error {
	if !st.options.Trainer {
		return nil
	}
	id, err := st.ca.server(Trainer, nil)
	if err != nil {
		return err
	}
	// Where controller-runtime looks for certificates, below TMPDIR.
	certificates := filepath.Join(string(st.layout), "k8s-webhook-server", "serving-certs")
	if err := errors.Join(os.MkdirAll(certificates, 0o700),
		os.WriteFile(filepath.Join(certificates, "tls.crt"), id.cert, 0o600),
		os.WriteFile(filepath.Join(certificates, "tls.key"), id.key, 0o600)); err != nil {
		return fmt.Errorf("write certificates: %w", err)
	}
	for _, c := range trainerControllers {
		dir, err := moduleDir(ctx, filepath.Join(st.options.root, trainerModule), c.module)
		if err != nil {
			return fmt.Errorf("find the module of %s: %w", c.component, err)
		}
		files, err := filepath.Glob(filepath.Join(dir, c.crds))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("list the CRDs of %s: %w", c.component, errors.Join(err, os.ErrNotExist))
		}
		for _, file := range files {
			crd, err := readManifest(file)
			if err != nil {
				return err
			}
			if err := st.cluster.applyCRDs(ctx, crd.objects); err != nil {
				return err
			}
		}
		numbers, err := st.takePorts(2)
		if err != nil {
			return err
		}
		file := filepath.Join(string(st.layout), c.component+".yaml")
		text := fmt.Sprintf(trainerConfiguration, c.configuration, numbers[0], address(numbers[1]), c.certification)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write the state folder: %w", err)
		}
		if err := st.add(component{
			name: c.component, binary: st.binaries[c.build.name], args: []string{"--config=" + file, "--kubeconfig=" + st.Kubeconfig()},
			env: []string{"TMPDIR=" + string(st.layout)},
		}); err != nil {
			return err
		}
		if err := until(ctx, c.component+" to be ready", func(ctx context.Context) error {
			return healthy(ctx, "http://"+address(numbers[1])+"/readyz")
		}); err != nil {
			return err
		}
		hooks, err := readManifest(filepath.Join(dir, c.webhooks))
		if err != nil {
			return err
		}
		if err := local(hooks.objects, "https://"+address(numbers[0]), st.ca.pem); err != nil {
			return err
		}
		for _, object := range hooks.objects {
			object.SetName(c.component) // both modules call theirs the same
		}
		if err := st.cluster.apply(ctx, hooks.objects); err != nil {
			return err
		}
	}
	return nil
}
