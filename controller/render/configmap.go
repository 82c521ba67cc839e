// SPDX-License-Identifier: Apache-2.0

package render

import (
	"net"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

const (
	// firstPort is the port of every server and of the launcher's master. It is the same for all, because in PodIP and
	// Service mode each pod has an address of its own.
	firstPort = 36000
	// ports is the size of the block that a pod has from firstPort on.
	ports = 20
	// glooPort is where server 0 serves gloo's rendezvous: inside the block, and not the server's own port, on which two
	// could not listen.
	glooPort = firstPort + ports - 2
)

// ConfigMap is the environment that all pods of the job share. Gang is what PodAddresses returned, or "" where the
// addresses do not depend on pods.
func ConfigMap(job *v1.PaddleJob, addresses Addresses, gang string, _ Config) *corev1.ConfigMap {
	var annotations map[string]string
	if gang != "" {
		annotations = map[string]string{keys.Gang: gang}
	}
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name:            job.Name,
			Namespace:       job.Namespace,
			Labels:          map[string]string{keys.JobName: job.Name, keys.ResourceName: job.Name},
			Annotations:     annotations,
			OwnerReferences: []metav1.OwnerReference{ownedBy(job)},
		},
		Data: contract(job, addresses),
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
// What must not be in it: a list of servers in Collective and Single, which would turn role makers to PS; PADDLE_MASTER
// and PADDLE_NNODES, because the endpoints say the same; PADDLE_SERVERS_ENDPOINTS and PADDLE_TRAINERS_ENDPOINTS, which
// the launcher maps to its --servers and --trainers; gloo without servers, for nobody would serve it.
func contract(job *v1.PaddleJob, addresses Addresses) map[string]string {
	data := map[string]string{
		"PADDLE_PORT":       strconv.Itoa(firstPort),
		"TRAINER_PORTS_NUM": strconv.Itoa(ports),
	}
	if job.Spec.Worker != nil {
		data["PADDLE_TRAINER_ENDPOINTS"] = endpoints(addresses[RoleWorker], firstPort)
		data["PADDLE_TRAINERS"] = strings.Join(addresses[RoleWorker], ",")
		data["PADDLE_TRAINERS_NUM"] = strconv.Itoa(job.Spec.Worker.Replicas)
	}
	if job.Spec.PS == nil {
		return data
	}
	servers := addresses[RolePS]
	data["PADDLE_PSERVERS_IP_PORT_LIST"] = endpoints(servers, firstPort)
	if gloo := job.Spec.WithGloo; gloo != nil && *gloo > 0 {
		data["PADDLE_WITH_GLOO"] = strconv.Itoa(*gloo)
		data["PADDLE_GLOO_RENDEZVOUS"] = "3" // HTTP
		data["PADDLE_GLOO_HTTP_ENDPOINT"] = endpoints(servers[:min(1, len(servers))], glooPort)
	}
	return data
}

func endpoints(hosts []string, port int) string {
	all := make([]string, len(hosts))
	for i, host := range hosts {
		all[i] = net.JoinHostPort(host, strconv.Itoa(port))
	}
	return strings.Join(all, ",")
}
