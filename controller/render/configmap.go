// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
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
		annotations = map[string]string{keys.Gang: gang}
	}
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name:            job.Name,
			Namespace:       job.Namespace,
			Labels:          map[string]string{keys.JobName: job.Name, keys.ResourceName: job.Name, keys.ExcludeFromBackup: "true"},
			Annotations:     annotations,
			OwnerReferences: []metav1.OwnerReference{ownedBy(job)},
		},
		Data: contract(job, addresses, first, cfg),
	}
}

// contract is the part of Paddle's environment that is the same in every pod. Which names it has depends on the job
// alone, never on the addresses.
//
// What reads it, in Paddle's Python: PaddleCloudRoleMaker in PS mode (fleet/base/role_maker.py:
// PADDLE_PSERVERS_IP_PORT_LIST, PADDLE_TRAINER_ENDPOINTS, PADDLE_TRAINERS_NUM, PADDLE_PORT, PADDLE_*GLOO*); the launcher in
// the other modes (distributed/launch/plugins), which takes its master, the first entry, and its number of nodes, the
// distinct hosts, from PADDLE_TRAINER_ENDPOINTS; and the launchers before it (cloud_utils.py), which take the hosts from
// PADDLE_TRAINERS and the ports from PADDLE_PORT and TRAINER_PORTS_NUM.
//
// What must not be in it: a list of servers in Collective and Single, which would turn role makers and the launcher to PS;
// PADDLE_MASTER and PADDLE_NNODES, because the endpoints say the same; gloo without servers, for nobody would serve it.
func contract(job *v1.PaddleJob, addresses Addresses, first int, cfg Config) map[string]string {
	if Elastic(job) {
		return elasticContract(job, cfg)
	}
	at := layout{job: job, first: first}
	data := map[string]string{"TRAINER_PORTS_NUM": strconv.Itoa(ports)}
	if Intranet(job, cfg) == v1.Host {
		maps.Copy(data, hostContract(job))
	} else {
		data["PADDLE_PORT"] = strconv.Itoa(firstPort)
	}
	if job.Spec.Worker != nil {
		data[allTrainers] = at.endpoints(addresses, RoleWorker)
		data["PADDLE_TRAINERS"] = strings.Join(addresses[RoleWorker], ",")
		data["PADDLE_TRAINERS_NUM"] = strconv.Itoa(job.Spec.Worker.Replicas)
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
	data["PADDLE_PSERVERS_IP_PORT_LIST"] = servers
	if prefix, _ := AddressPrefix(addresses); prefix == "" {
		maps.Copy(data, launchServers(job, servers, data[allTrainers], at.gloo()))
	} else {
		maps.Copy(data, launchServers(job, strings.Join(addresses[RolePS], ","), strings.Join(addresses[RoleWorker], ","), at.gloo()))
	}
	if gloo := job.Spec.WithGloo; gloo != nil && *gloo > 0 {
		data["PADDLE_WITH_GLOO"] = strconv.Itoa(*gloo)
		data["PADDLE_GLOO_RENDEZVOUS"] = "3" // HTTP
		data["PADDLE_GLOO_HTTP_ENDPOINT"] = ""
		if hosts := addresses[RolePS]; len(hosts) > 0 {
			data["PADDLE_GLOO_HTTP_ENDPOINT"] = endpoint(hosts[0], at.gloo())
		}
	}
	return data
}
