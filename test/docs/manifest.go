// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Judge is the command that judges a manifest, or the part of one, which it reads from a file.
type Judge string

// The judges.
const (
	// ByAPIServer is for whole objects of any kind.
	ByAPIServer Judge = "kubectl create --dry-run=server --validate=strict -f"
	// ByController is for PaddleJobs of the group batch.paddlepaddle.org: the controller's rules, and then the API server.
	ByController Judge = "kubectl paddle submit --dry-run -f"
	// ByScheduler is for volcano-scheduler.conf, by itself or as the data of its ConfigMap.
	ByScheduler Judge = "paddle-scheduler --check-config"
	// BySandbox is for clusters that the sandbox simulates.
	BySandbox Judge = "a sandbox"
)

const paddleVersion = "batch.paddlepaddle.org/v1"

// Manifest returns what a yaml block has to be judged as, completed where it shows a part of a PaddleJob.
func (b *Block) Manifest() (text string, by Judge, err error) {
	text = strings.Join(b.Lines, "\n") + "\n"
	first, _, _ := strings.Cut(text, "\n---\n")
	object := map[string]any{}
	if err := yaml.Unmarshal([]byte(first), &object); err != nil {
		return "", "", fmt.Errorf("line %d: %w", b.Line, err)
	}
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { _, found := object[key]; return found })
	}
	switch {
	case has("actions"):
		return text, ByScheduler, nil
	case has("data") && !has("apiVersion"):
		conf, _, err := unstructured.NestedString(object, "data", "volcano-scheduler.conf")
		return conf, ByScheduler, err
	case has("custom"): // values of Volcano's chart
		conf, _, err := unstructured.NestedString(object, "custom", "scheduler_config_override")
		return conf, ByScheduler, err
	case has("shapes", "blocks"):
		return text, BySandbox, nil
	case has("apiVersion"):
		if object["apiVersion"] == paddleVersion {
			return text, ByController, nil
		}
		return text, ByAPIServer, nil
	case has("metadata", "spec"):
		return completed(object, b.Line)
	case has("ps", "worker", "heter", "schedulingPolicy", "runPolicy", "elastic", "intranet", "cleanPodPolicy"):
		return completed(map[string]any{"spec": object}, b.Line)
	}
	return "", "", fmt.Errorf("line %d: the fields are of no known object: write a whole object, a part of a PaddleJob, or a comment why it is not checked", b.Line)
}

// completed returns a whole PaddleJob of a part: what the part leaves out is the least that makes a job.
func completed(part map[string]any, line int) (string, Judge, error) {
	job := map[string]any{
		"apiVersion": paddleVersion, "kind": "PaddleJob", "metadata": map[string]any{"name": fmt.Sprintf("line-%d", line)},
	}
	merge(job, part)
	spec, ok := job["spec"].(map[string]any)
	if !ok {
		spec = map[string]any{}
		job["spec"] = spec
	}
	if _, found := spec["worker"]; !found {
		spec["worker"] = map[string]any{}
	}
	for _, name := range []string{"ps", "worker", "heter"} {
		if role, found := spec[name].(map[string]any); found {
			complete(role)
		}
	}
	text, err := yaml.Marshal(job)
	return string(text), ByController, err
}

func complete(role map[string]any) {
	least := map[string]any{"replicas": 4, "template": map[string]any{"spec": map[string]any{
		"containers": []any{map[string]any{"name": "paddle", "image": "paddle"}},
	}}}
	merge(least, role)
	for key, value := range least {
		role[key] = value
	}
}

// merge writes what is in from over what is in to.
func merge(to, from map[string]any) {
	for key, value := range from {
		below, isMap := value.(map[string]any)
		under, wasMap := to[key].(map[string]any)
		if isMap && wasMap {
			merge(under, below)
			continue
		}
		to[key] = value
	}
}
