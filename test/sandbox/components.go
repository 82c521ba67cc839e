// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/launch"
)

// Names of the components, as Logs, Kill and StartComponent take them.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	VolcanoController = "volcano-controllers"
	VolcanoWebhooks   = "volcano-webhooks"
	Scheduler         = "scheduler"
	Controller        = "controller"
	Kwok              = "kwok"
	// These are there where the options ask for rivals, and are not started with the rest.
	VolcanoScheduler = "volcano-scheduler"
	KubeScheduler    = "kube-scheduler"
	// These run where there is a real node.
	Containerd = "containerd"
	Kubelet    = "kubelet"
	CoreDNS    = "coredns"
	// These run where the options ask for Kubeflow Trainer.
	JobSet  = "jobset"
	Trainer = "trainer-controller-manager"
)

// Components lists the names of all components in the order in which they start.
func Components() []string {
	return []string{
		Containerd, Etcd, APIServer, ControllerManager, Kwok, Kubelet, CoreDNS,
		VolcanoController, VolcanoWebhooks, Scheduler, VolcanoScheduler, KubeScheduler, Controller, JobSet, Trainer,
	}
}

func isComponent(name string) bool { return slices.Contains(Components(), name) }

// component is how one of them is run.
type component struct {
	name, binary string
	args, env    []string
	// box is where it runs. Nil means outside of any box.
	box *box.Box
}

const (
	loopback    = "127.0.0.1"
	serviceCIDR = "10.0.0.0/24"
	// podCIDR begins with the first address that pods get; it holds neither services nor nodes.
	podCIDR = "10.128.0.1/9"
	// manyNodes is from which on kubelet leases load a small machine too much, so that they are renewed less often.
	manyNodes = 500
)

// kubeControllers are the parts of kube-controller-manager that a training cluster needs: pods need
// service accounts, nodes their taints taken off, claims their volumes and their finalizers, owners their children
// deleted; the rest is for charts that people install.
var kubeControllers = []string{
	"serviceaccount-controller", "root-ca-certificate-publisher-controller", "node-lifecycle-controller",
	"taint-eviction-controller", "pod-garbage-collector-controller", "garbage-collector-controller",
	"namespace-controller", "clusterrole-aggregation-controller", "resourcequota-controller",
	"persistentvolume-binder-controller", "persistentvolumeclaim-protection-controller",
	"persistentvolume-protection-controller", "deployment-controller", "replicaset-controller",
	"endpointslice-controller", "job-controller",
}

func address(port int) string { return loopback + ":" + strconv.Itoa(port) }

func etcdArgs(l layout, client, peer int) []string {
	clientURL, peerURL := "http://"+address(client), "http://"+address(peer)
	return launch.Flags{
		"name": "sandbox", "data-dir": l.etcdData(),
		"listen-client-urls": clientURL, "advertise-client-urls": clientURL,
		"listen-peer-urls": peerURL, "initial-advertise-peer-urls": peerURL, "initial-cluster": "sandbox=" + peerURL,
		// Nothing survives the sandbox, so nothing needs to reach the disk.
		"unsafe-no-fsync": "true", "quota-backend-bytes": "4294967296", "log-level": "warn",
	}.Args()
}

func apiServerArgs(l layout, port, etcd int) []string {
	return launch.Flags{
		"etcd-servers": "http://" + address(etcd),
		"bind-address": loopback, "advertise-address": loopback, "secure-port": strconv.Itoa(port),
		"tls-cert-file": l.pki("kube-apiserver.crt"), "tls-private-key-file": l.pki("kube-apiserver.key"),
		"client-ca-file": l.pki("ca.crt"), "cert-dir": l.pki(""),
		"authorization-mode":               "RBAC",
		"service-account-issuer":           "https://kubernetes.default.svc",
		"service-account-key-file":         l.pki("service-accounts.key"),
		"service-account-signing-key-file": l.pki("service-accounts.key"),
		"service-cluster-ip-range":         serviceCIDR, "endpoint-reconciler-type": "none", "allow-privileged": "true",
		"max-requests-inflight": "3000", "max-mutating-requests-inflight": "1000",
	}.Args()
}

func controllerManagerArgs(l layout, nodes int) []string {
	f := launch.Flags{
		"kubeconfig": l.kubeconfig(ControllerManager), "leader-elect": "false",
		"use-service-account-credentials": "true", "secure-port": "0",
		"root-ca-file": l.pki("ca.crt"), "service-account-private-key-file": l.pki("service-accounts.key"),
		"controllers": strings.Join(kubeControllers, ","), "kube-api-qps": "1000", "kube-api-burst": "1000",
		"pv-recycler-pod-template-filepath-nfs":      l.recyclerPod(),
		"pv-recycler-pod-template-filepath-hostpath": l.recyclerPod(),
	}
	if nodes >= manyNodes {
		f["node-monitor-grace-period"] = "900s"
	}
	return f.Args()
}

func kwokArgs(l layout, nodes int) []string {
	lease := 40
	if nodes >= manyNodes {
		lease = 400
	}
	return launch.Flags{
		"kubeconfig": l.kubeconfig(Kwok), "config": l.kwokConf(), "manage-all-nodes": "true",
		"node-lease-duration-seconds": strconv.Itoa(lease), "cidr": podCIDR,
	}.Args()
}

// volcanoControllerFlags raise what is slow by default: 50 requests a second and 3 workers.
func volcanoControllerFlags(l layout, health, metrics int) launch.Flags {
	return launch.Flags{
		"kubeconfig": l.kubeconfig(VolcanoController), "leader-elect": "false", "v": "2",
		"kube-api-qps": "2000", "kube-api-burst": "2000", "worker-threads": "8",
		"healthz-address": address(health), "listen-address": address(metrics),
	}
}

func webhookFlags(l layout, port, health int) launch.Flags {
	return launch.Flags{
		"kubeconfig": l.kubeconfig(VolcanoWebhooks), "v": "2", "listen-address": loopback, "port": strconv.Itoa(port),
		"tls-cert-file": l.pki("volcano-webhooks.crt"), "tls-private-key-file": l.pki("volcano-webhooks.key"),
		"ca-cert-file": l.pki("ca.crt"), "healthz-address": address(health), "admission-conf": "",
	}
}

func schedulerFlags(l layout, name, conf string, health, metrics int) launch.Flags {
	return launch.Flags{
		"kubeconfig": l.kubeconfig(name), "leader-elect": "false", "scheduler-conf": conf,
		"healthz-address": address(health), "listen-address": address(metrics), "cache-dump-dir": string(l),
	}
}

// socketEnv keeps the socket by which Volcano's log level is changed in the state folder, which is every component's
// working folder: the path of a socket must be short.
const socketEnv = "DEBUG_SOCKET_DIR=sockets"

// controllerFlags returns the flags of paddlejob-controller that its Deployment does not have. Metrics are open to this machine.
func controllerFlags(l layout, http int) launch.Flags {
	return launch.Flags{"kubeconfig": l.kubeconfig(Controller), "leader-elect": "false", "http-address": address(http), "metrics-address": ""}
}

// keepRivals prepares schedulers in addition to the one that runs: Volcano's own with Volcano's own configuration, and
// kube-scheduler. Volcano's has the service account of the one that runs, whose permissions must be sufficient for it.
func (st *starter) keepRivals(ctx context.Context) error {
	if !st.options.Rivals {
		return nil
	}
	conf, err := st.manifests.volcano.ConfigMapValue(schedulerConfigMap, "volcano-scheduler.conf")
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
	volcano, err := st.deployed(ctx, VolcanoScheduler, st.binaries[programStock.Name], st.manifests.volcano, "volcano-scheduler",
		schedulerFlags(st.layout, VolcanoScheduler, st.layout.volcanoConf(), numbers[0], numbers[1]))
	if err != nil {
		return err
	}
	st.keep(volcano)
	st.addresses[VolcanoScheduler] = address(numbers[1])

	id, err := st.ca.Client("system:kube-scheduler")
	if err != nil {
		return err
	}
	if err := writeKubeconfig(st.layout.kubeconfig(KubeScheduler), st.server, st.ca.PEM, "", credentials{identity: id}); err != nil {
		return err
	}
	st.keep(component{name: KubeScheduler, binary: st.binaries[programKubeSched.Name], args: kubeSchedulerArgs(st.layout)})
	return nil
}

// kubeSchedulerArgs are its defaults, but that it asks the API server as often as Volcano's does.
func kubeSchedulerArgs(l layout) []string {
	return launch.Flags{
		"kubeconfig": l.kubeconfig(KubeScheduler), "leader-elect": "false", "secure-port": "0",
		"kube-api-qps": "2000", "kube-api-burst": "2000",
	}.Args()
}
