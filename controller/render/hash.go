// SPDX-License-Identifier: Apache-2.0

package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// SpecHash identifies what the job's objects are made from: the spec without what may change while the job runs, which is
// cleanPodPolicy, what lastingRun leaves out of runPolicy, and the number of elastic workers between their bounds. Labels and annotations do
// not count for the same reason. Fields without content are left out: whether Kubernetes' types write them differs between
// their releases, and a new controller must not take that for a change of the user's.
func SpecHash(job *v1.PaddleJob) string { return hashWith(job, lastingRun(job)) }

// SameSpec reports whether a hash is that of a job's spec, made by this or an earlier release of the controller: an upgrade
// must not look like a change of the spec.
func SameSpec(hash string, job *v1.PaddleJob) bool {
	return hash == SpecHash(job) || hash == hashWith(job, earlierLastingRun(job))
}

func hashWith(job *v1.PaddleJob, run *v1.RunPolicy) string {
	spec := job.Spec
	spec.CleanPodPolicy = ""
	spec.RunPolicy = run
	if Scalable(job) {
		worker := *spec.Worker
		worker.Replicas = 0
		spec.Worker = &worker
	}
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&spec)
	if err != nil {
		return "" // Not possible for a spec that came from the API server.
	}
	text, err := json.Marshal(withoutEmpty(tree))
	if err != nil {
		return ""
	}
	return digest(text)
}

// withoutEmpty drops null and {} from objects.
func withoutEmpty(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			field = withoutEmpty(field)
			if fields, object := field.(map[string]any); field == nil || (object && len(fields) == 0) {
				delete(value, key)
			}
		}
	case []any:
		for i := range value {
			value[i] = withoutEmpty(value[i])
		}
	}
	return value
}

// digest is short enough to be read in a table, and long enough to tell one job's versions apart.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
