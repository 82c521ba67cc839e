// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"fmt"
	"strconv"
	"strings"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// etcdScheme is the scheme by which the launcher recognizes an etcd.
const etcdScheme = "etcd://"

// elasticContract is the environment of elastic training. The number of workers is not in it, only its bounds: workers
// count each other in etcd, under the job's id.
//
// What reads it: CollectiveElasticController (distributed/launch/controllers). What must not be in it: endpoints of
// trainers, which would override the master and the bounds, and a rank of the launcher's: PADDLE_RANK, PADDLE_TRAINER_ID.
func elasticContract(job *v1.PaddleJob, cfg Config) map[string]string {
	address, _ := Etcd(job, cfg)
	least, most := Bounds(job)
	data := map[string]string{
		"PADDLE_MASTER": etcdScheme + address,
		"PADDLE_NNODES": fmt.Sprintf("%d:%d", least, most),
		// One etcd serves many jobs, and keeps the keys of finished ones.
		"PADDLE_JOB_ID": fmt.Sprintf("%s-%s-%s", job.Namespace, job.Name, job.UID),
		// 1 lets a launcher start its trainers again; below that it ends.
		"PADDLE_ELASTIC_LEVEL": "1",
		// paddleformers-cli passes --rank on, 0 where RANK is not set: with -1 the launchers agree on the ranks. They read
		// PADDLE_MASTER and PADDLE_NNODES before its other arguments.
		envRank: "-1",
	}
	if policy := job.Spec.ElasticPolicy; policy != nil {
		if policy.TimeoutSeconds != nil {
			data["PADDLE_ELASTIC_TIMEOUT"] = strconv.Itoa(int(*policy.TimeoutSeconds))
		}
		if policy.MaxRestarts != nil {
			data["PADDLE_MAX_RESTART"] = strconv.Itoa(int(*policy.MaxRestarts))
		}
	}
	return data
}

// envElasticServer is where users of paddle-operator write the etcd, which has no field for it.
const envElasticServer = "PADDLE_ELASTIC_SERVER"

// Etcd returns the address of the job's etcd, without a scheme, and the field that has it.
func Etcd(job *v1.PaddleJob, cfg Config) (address, field string) {
	address, field = cfg.ElasticEtcd, "the controller's --elastic-etcd"
	if worker := job.Spec.Worker; worker != nil && len(worker.Template.Spec.Containers) > 0 {
		for _, variable := range worker.Template.Spec.Containers[0].Env {
			if variable.Name == envElasticServer && variable.Value != "" {
				address, field = variable.Value, "spec.worker.template.spec.containers[0].env "+envElasticServer
			}
		}
	}
	if policy := job.Spec.ElasticPolicy; policy != nil && policy.Etcd != "" {
		address, field = policy.Etcd, "spec.elasticPolicy.etcd"
	}
	return strings.TrimPrefix(address, etcdScheme), field
}

// EtcdProblem returns what keeps Paddle from finding an etcd at host:port, and what to do; "" if nothing.
func EtcdProblem(address string) string {
	address = strings.TrimPrefix(address, etcdScheme)
	host, port, ok := strings.Cut(address, ":")
	if number, err := strconv.Atoi(port); !ok || host == "" || err != nil || number < 1 || number > 65535 ||
		strings.ContainsAny(host, "/@, ") {
		return fmt.Sprintf("%q is not host:port: name one member or a Service of the etcd, by an IPv4 address or a name", address)
	}
	// The launcher strips the characters of the scheme, not the scheme: strip("etcd://").
	if left := strings.TrimLeft(host, "etcd:/"); left != host {
		return fmt.Sprintf("%q begins with one of the letters e, t, c, d, which Paddle takes off with the scheme, and it would "+
			"look for %q: use an IP, or a Service of another name, such as kv-%s", host, left, host)
	}
	return ""
}

// elasticWarnings adds what has no effect without elastic.
func elasticWarnings(warnings *Causes, job *v1.PaddleJob) {
	if ElasticSet(job) {
		return
	}
	if job.Spec.ElasticPolicy != nil {
		warnings.Add(ReasonElasticPolicyIgnored, "spec.elasticPolicy has no effect without minReplicas and maxReplicas: set them, or leave it out")
	}
	for _, r := range Roles(job) {
		if r.Spec.Requests != nil {
			warnings.Add(ReasonBoundsIgnored, "%s.requests, a least number of pods, has no effect without spec.elastic: set that too, or leave it "+
				"out; what a container requests stands in its resources", r.field())
		}
		if r.Spec.Limits != nil {
			warnings.Add(ReasonBoundsIgnored, "%s.limits, a greatest number of pods, has no effect without spec.elastic: set that too, or leave it "+
				"out; what a container is limited to stands in its resources", r.field())
		}
	}
}
