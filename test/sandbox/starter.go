// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"
	"net/http"
	"os"

	corev1 "k8s.io/api/core/v1"
)

// starter holds what is known only while a sandbox starts.
type starter struct {
	*Sandbox
	options     *Options
	manifests   *manifests
	nodes       []*corev1.Node
	binaries    map[string]string
	ca          *authority
	server      string
	webhookPort int
	real        realStart
}

// recyclerPod empties a volume that its claim has given back: nothing is there to empty.
const recyclerPod = `apiVersion: v1
kind: Pod
metadata:
  generateName: recycler-
  namespace: default
  annotations:
    ` + AnnotationRunFor + `: 1s
spec:
  schedulerName: volcano
  restartPolicy: Never
  volumes:
  - name: vol
  containers:
  - name: recycler
    image: recycler
    volumeMounts:
    - name: vol
      mountPath: /scrub
`

// prepare writes every file that needs no API server.
func (st *starter) prepare() error {
	var err error
	if st.ca, err = newAuthority(); err != nil {
		return err
	}
	if err := st.layout.writePKI(st.ca); err != nil {
		return err
	}
	stages, err := KwokConfig(st.options.WorkerRunFor)
	if err != nil {
		return err
	}
	conf, err := st.schedulerConf()
	if err != nil {
		return err
	}
	for path, text := range map[string]string{
		st.layout.kwokConf(): stages, st.layout.schedulerConf(): conf, st.layout.recyclerPod(): recyclerPod,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write the state folder: %w", err)
		}
	}
	return nil
}

// schedulerConf is what the scheduler's own manifest says, unless the options do.
func (st *starter) schedulerConf() (string, error) {
	if st.options.SchedulerConf != "" {
		return st.options.SchedulerConf, nil
	}
	return st.schedulerManifest().configMapValue(schedulerConfigMap, "volcano-scheduler.conf")
}

func (st *starter) schedulerManifest() *manifest {
	if st.manifests.scheduler == nil {
		return st.manifests.volcano
	}
	return st.manifests.scheduler
}

// startServers starts etcd and the API server, and writes the kubeconfigs of those who come with certificates.
func (st *starter) startServers(ctx context.Context) error {
	numbers, err := st.takePorts(4)
	if err != nil {
		return err
	}
	etcd, peer, api := numbers[0], numbers[1], numbers[2]
	st.webhookPort = numbers[3]
	st.server = "https://" + address(api)
	if err := st.startBox(ctx, api); err != nil {
		return err
	}

	if err := st.add(component{name: Etcd, binary: st.binaries[buildEtcd.name], args: etcdArgs(st.layout, etcd, peer)}); err != nil {
		return err
	}
	if err := until(ctx, "etcd to be healthy", func(ctx context.Context) error { return healthy(ctx, "http://"+address(etcd)+"/health") }); err != nil {
		return err
	}
	if err := st.add(component{name: APIServer, binary: st.binaries[buildAPIServer.name], args: append(apiServerArgs(st.layout, api, etcd), st.realAPIServerArgs()...)}); err != nil {
		return err
	}
	admin, err := st.ca.client("sandbox-admin", "system:masters")
	if err != nil {
		return err
	}
	if err := writeKubeconfig(st.Kubeconfig(), st.server, st.ca.pem, "default", credentials{identity: admin}); err != nil {
		return err
	}
	for name, user := range map[string]string{ControllerManager: "system:kube-controller-manager", Kwok: kwokUser} {
		id, err := st.ca.client(user)
		if err != nil {
			return err
		}
		if err := writeKubeconfig(st.layout.kubeconfig(name), st.server, st.ca.pem, "", credentials{identity: id}); err != nil {
			return err
		}
	}
	st.config = adminConfig(st.server, st.ca.pem, admin)
	if st.cluster, err = newCluster(st.config); err != nil {
		return err
	}
	return st.cluster.ready(ctx)
}

// add makes a component part of the sandbox and starts it.
func (st *starter) add(c component) error {
	st.keep(c)
	return st.StartComponent(c.name)
}

// keep makes a component part of the sandbox, for StartComponent.
func (st *starter) keep(c component) {
	c.args, c.box = append(c.args, st.options.Args[c.name]...), st.box
	st.mu.Lock()
	defer st.mu.Unlock()
	st.components[c.name] = c
}

func (st *starter) takePorts(n int) ([]int, error) {
	if st.options.Real != nil {
		return st.takeBoxPorts(n)
	}
	return st.takeFreePorts(n)
}

func (st *starter) takeFreePorts(n int) ([]int, error) {
	numbers := make([]int, n)
	for i := range numbers {
		var err error
		if numbers[i], err = st.ports.take(); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

func healthy(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // nothing is read from it
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}
