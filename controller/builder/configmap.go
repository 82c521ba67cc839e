// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// ConfigMap is the environment that all pods of the job share, where each has an address of its own. Gang is what
// PodAddresses returned, or "" where the environment does not depend on pods.
func ConfigMap(job *v1.PaddleJob, addresses Addresses, gang string, cfg Config) *corev1.ConfigMap {
	return ConfigMapAt(job, addresses, 0, gang, cfg)
}

// ConfigMapAt is ConfigMap where pods have their nodes' addresses, and ports of their own that begin at first (HostPorts).
func ConfigMapAt(job *v1.PaddleJob, addresses Addresses, first int, gang string, cfg Config) *corev1.ConfigMap {
	var annotations map[string]string
	if gang != "" {
		annotations = map[string]string{v1.GangAnnotation: gang}
	}
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name:            job.Name,
			Namespace:       job.Namespace,
			Labels:          map[string]string{v1.JobNameLabel: job.Name, v1.ResourceNameLabel: job.Name, v1.ExcludeFromBackupLabel: "true"},
			Annotations:     annotations,
			OwnerReferences: []metav1.OwnerReference{ownedBy(job)},
		},
		Data: contract(job, addresses, first, cfg),
	}
}

// contract is the part of Paddle's environment that is the same in every pod. Which names it has depends on the job
// alone, never on the addresses.
//
// What reads it, in Paddle's Python: in PS mode PaddleCloudRoleMaker (fleet/base/role_maker.py:
// PADDLE_PSERVERS_IP_PORT_LIST, PADDLE_TRAINER_ENDPOINTS, PADDLE_TRAINERS_NUM, PADDLE_PORT, PADDLE_*GLOO*). In
// the other modes the launcher (distributed/launch/plugins), which takes its master, the first entry, and its number of nodes, the
// distinct hosts, from PADDLE_TRAINER_ENDPOINTS. The launchers before it (cloud_utils.py) take the hosts from
// PADDLE_TRAINERS and the ports from PADDLE_PORT and TRAINER_PORTS_NUM.
//
// What must not be in it: a list of servers in Collective and Single, which would turn role makers and the launcher to PS.
// PADDLE_MASTER and PADDLE_NNODES, because the endpoints say the same. Gloo without servers, because no server would serve it.
func contract(job *v1.PaddleJob, addresses Addresses, first int, cfg Config) map[string]string {
	if Elastic(job) {
		return elasticContract(job, cfg)
	}
	at := layout{job: job, first: first}
	data := map[string]string{"TRAINER_PORTS_NUM": strconv.Itoa(ports)}
	switch {
	case Intranet(job, cfg) != v1.Host:
		data["PADDLE_PORT"] = strconv.Itoa(firstPort)
	case job.Spec.PS == nil:
		// The launchers before 2.3 reckon with one port for all nodes, which there is not: without one from the controller they take their own default, on
		// all nodes the same.
		data["TRAINER_PORTS_NUM"] = "0"
	}
	if job.Spec.Worker != nil {
		data[allTrainers] = at.endpoints(addresses, RoleWorker)
		data["PADDLE_TRAINERS"] = strings.Join(addresses[RoleWorker], ",")
		data["PADDLE_TRAINERS_NUM"] = strconv.Itoa(int(job.Spec.Worker.Replicas))
	}
	if Mode(job) == v1.ModeCollective {
		maps.Copy(data, frontEndContract(job, addresses, at))
	}
	if job.Spec.Heter != nil {
		maps.Copy(data, heterContract(job, at.endpoints(addresses, RoleHeter)))
	}
	if job.Spec.PS == nil {
		return data
	}
	servers := at.endpoints(addresses, RolePS)
	data[allServers] = servers
	if prefix, _ := AddressPrefix(addresses); prefix == "" {
		maps.Copy(data, launchServers(job, servers, data[allTrainers], at.gloo()))
	} else {
		maps.Copy(data, launchServers(job, strings.Join(addresses[RolePS], ","), strings.Join(addresses[RoleWorker], ","), at.gloo()))
	}
	if gloo := job.Spec.WithGloo; gloo != nil && *gloo > 0 {
		data["PADDLE_WITH_GLOO"] = strconv.Itoa(int(*gloo))
		data["PADDLE_GLOO_RENDEZVOUS"] = "3" // HTTP
		data["PADDLE_GLOO_HTTP_ENDPOINT"] = ""
		if hosts := addresses[RolePS]; len(hosts) > 0 {
			data["PADDLE_GLOO_HTTP_ENDPOINT"] = endpoint(hosts[0], at.gloo())
		}
	}
	return data
}

// maxListedPods bounds the lists, so that a spec that Validate refuses cannot exhaust memory; what it allows is far less.
const maxListedPods = 1 << 14

// ServiceAddresses are the pods' names in the job's headless Service, known before any pod exists: {pod}.{job}.
func ServiceAddresses(job *v1.PaddleJob) Addresses {
	addresses := Addresses{}
	for _, r := range Roles(job) {
		hosts := make([]string, min(r.replicas(), maxListedPods))
		for i := range hosts {
			hosts[i] = podName(job.Name, r.Name, i) + "." + job.Name
		}
		addresses[r.Name] = hosts
	}
	return addresses
}

// PodAddresses are the IPs of the job's pods that live: neither failed nor being deleted. Missing names, in order, the
// pods of the job that have none yet; while there are any, their places in addresses are empty. Gang identifies the pods
// that were counted, so that the addresses of one gang are never taken for another's.
func PodAddresses(job *v1.PaddleJob, pods []*corev1.Pod) (addresses Addresses, gang string, missing []string) {
	addresses = Addresses{}
	living := map[string]*corev1.Pod{}
	for _, pod := range Members(job, pods) {
		living[pod.Name] = pod
	}
	var text strings.Builder
	for _, r := range Roles(job) {
		hosts := make([]string, min(r.replicas(), maxListedPods))
		for i := range hosts {
			name := podName(job.Name, r.Name, i)
			pod := living[name]
			if pod == nil {
				missing = append(missing, name)
				continue
			}
			hosts[i] = address(pod)
			fmt.Fprintf(&text, "%s %s %s\n", name, pod.UID, hosts[i])
		}
		addresses[r.Name] = hosts
	}
	return addresses, digest([]byte(text.String())), missing
}

// address is the text by which a pod knows itself: the one it was given, or its first IP, which Kubernetes gives it.
func address(pod *corev1.Pod) string {
	return cmp.Or(pod.Annotations[v1.AddressAnnotation], pod.Status.PodIP)
}

// Members are those of the pods that PodAddresses counts.
func Members(job *v1.PaddleJob, pods []*corev1.Pod) []*corev1.Pod {
	var all []*corev1.Pod
	for _, pod := range pods {
		if _, _, ok := place(job, pod); ok && lives(pod) {
			all = append(all, pod)
		}
	}
	return all
}

// place is the role and the index that a pod has in the job, by its task, and whether it has a place there: nothing else than
// Volcano's own pod, which has the name of the place, may hold it.
func place(job *v1.PaddleJob, pod *corev1.Pod) (role string, index int, ok bool) {
	role = pod.Annotations[vcbatch.TaskSpecKey]
	index, err := strconv.Atoi(pod.Labels[v1.TaskIndexLabel])
	ok = err == nil && pod.Name == podName(job.Name, role, index) && slices.ContainsFunc(Roles(job), func(r Role) bool {
		return r.Name == role && index < int(r.replicas())
	})
	return role, index, ok
}

func lives(pod *corev1.Pod) bool {
	_, doomed := pod.Annotations[v1.OutOfSyncAnnotation]
	return !doomed && pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed && pod.Status.PodIP != ""
}

// launchServers are the variables for `python -m paddle.distributed.launch` in PS mode; nothing else reads them, so that
// `python train.py` is not touched.
//
// With both lists the launcher starts parameter-server training, and in each pod the processes whose endpoints begin with
// POD_IP: each pod starts itself. Without them it would train collectively, servers included. It switches gloo on unless
// it is switched off, and serves the rendezvous at a port of its own choice, PADDLE_GLOO_PORT, on the first server's host.
// Source: distributed/launch/controllers/ps.py and context/args_envs.py.
func launchServers(job *v1.PaddleJob, servers, trainers string, gloo int) map[string]string {
	data := map[string]string{
		"PADDLE_SERVERS_ENDPOINTS":  servers,
		"PADDLE_TRAINERS_ENDPOINTS": trainers,
		"PADDLE_GLOO_PORT":          strconv.Itoa(gloo),
	}
	if with := job.Spec.WithGloo; with != nil && *with <= 0 {
		data["PADDLE_WITH_GLOO"] = "0"
	}
	return data
}

// frontEndContract has the variables of collective jobs that Paddle's command lines read, paddleformers-cli and erniekit:
// they delete PADDLE_TRAINER* and start the launcher with these and, in newer releases, with envRank. Without them each
// pod trains alone. MASTER_PORT is the last of the first worker's ports, because up to 2.5 init_parallel_env serves a store
// there, and the launcher serves another at the first port.
// Source: paddleformers/cli/cli.py of PaddleFormers, python/paddle/distributed/parallel.py of Paddle 2.3 to 2.5.
func frontEndContract(job *v1.PaddleJob, addresses Addresses, at layout) map[string]string {
	data := map[string]string{
		"NNODES":      strconv.Itoa(int(job.Spec.Worker.Replicas)),
		"MASTER_ADDR": "",
		"MASTER_PORT": strconv.Itoa(at.of(RoleWorker, 0) + ports - 1),
	}
	if hosts := addresses[RoleWorker]; len(hosts) > 0 {
		data["MASTER_ADDR"] = hosts[0]
	}
	return data
}

// AddressPrefix returns two of the pods' hosts of which the first is a prefix of the second, as 10.0.0.1 of 10.0.0.12; both
// are "" if there are none. The launcher of the first would start the second's processes too, each rank would run twice,
// and every pod would succeed. So the launcher of such a gang is given hosts without ports, on which all its releases fail.
func AddressPrefix(addresses Addresses) (prefix, address string) {
	var hosts []string
	for _, role := range slices.Sorted(maps.Keys(addresses)) {
		hosts = append(hosts, addresses[role]...)
	}
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	// In this order all hosts that begin with a host follow it directly.
	for i := range len(hosts) - 1 {
		if strings.HasPrefix(hosts[i+1], hosts[i]) {
			return hosts[i], hosts[i+1]
		}
	}
	return "", ""
}
