// SPDX-License-Identifier: Apache-2.0

package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// SpecHash identifies the PaddleJob's spec; labels and annotations do not count, because they may change while a job
// runs, and neither does cleanPodPolicy, which is read when it has ended. Fields without content are left out first: whether Kubernetes' types write them differs between their releases,
// and a new controller must not take that for a change of the user's.
func SpecHash(job *v1.PaddleJob) string {
	spec := job.Spec
	spec.CleanPodPolicy = ""
	text, err := json.Marshal(spec)
	if err != nil {
		return "" // Not possible for a spec that came as JSON.
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return ""
	}
	if text, err = json.Marshal(withoutEmpty(tree)); err != nil {
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
