// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// maxDegree is the largest degree of an axis that the scheduler's plugin reckons with.
const maxDegree = 1 << 16

// TrainingDegrees returns the degrees and the order that a training YAML has for a job, as TrainingArguments of PaddleFormers
// (paddleformers/trainer/training_args.py) reads them; text is nil where there is no such key. Below 1 a degree counts as 1.
func TrainingDegrees(job *v1.PaddleJob, text *string) (*v1.Parallelism, field.ErrorList) {
	path, ref := field.NewPath("spec", "parallelism", "configMapKeyRef"), job.Spec.Parallelism.ConfigMapKeyRef
	if text == nil {
		return nil, field.ErrorList{field.NotFound(path, fmt.Sprintf(
			"%s in ConfigMap %s: create it before the job, or write the degrees into spec.parallelism", ref.Key, ref.Name))}
	}
	config := map[string]any{}
	if err := yaml.Unmarshal([]byte(*text), &config); err != nil {
		return nil, field.ErrorList{field.Invalid(path, ref.Key, "it is not YAML with a key a line: name the key that has the training YAML")}
	}
	p, errs, some := &v1.Parallelism{Order: v1.ShardingFirst}, field.ErrorList(nil), false
	for _, axis := range []struct {
		degree *int32
		keys   []string // the name of PaddleFormers, and those before it
	}{
		{&p.Pipeline, []string{"pipeline_model_parallel_size", "pipeline_parallel_degree"}},
		{&p.Sharding, []string{"sharding_parallel_size", "sharding_parallel_degree", "sharding_degree"}},
		{&p.Sep, []string{"sep_parallel_size", "sep_parallel_degree"}},
		{&p.Tensor, []string{"tensor_model_parallel_size", "tensor_parallel_degree"}},
		{&p.Expert, []string{"expert_model_parallel_size", "expert_parallel_degree"}},
	} {
		for _, key := range axis.keys {
			value, ok := config[key]
			if !ok || value == nil {
				continue
			}
			some = true
			switch degree, number := value.(float64); {
			case !number || degree != float64(int64(degree)) || degree > maxDegree:
				errs = append(errs, field.Invalid(path.Key(key), value, fmt.Sprintf("write a whole number, at most %d", maxDegree)))
			case degree < 1:
			case *axis.degree != 0 && *axis.degree != int32(degree):
				errs = append(errs, field.Invalid(path.Key(key), value, fmt.Sprintf("it is %d by its other name: leave one of them out", *axis.degree)))
			default:
				*axis.degree = int32(degree)
			}
		}
	}
	switch order := config["hybrid_parallel_topo_order"]; order {
	case nil, "sharding_first":
	case "pp_first":
		p.Order = v1.PipelineFirst
	default:
		errs = append(errs, field.NotSupported(path.Key("hybrid_parallel_topo_order"), fmt.Sprint(order), []string{"pp_first", "sharding_first"}))
	}
	rest := max(1, int64(p.Pipeline)) * max(1, int64(p.Sep)) * max(1, int64(p.Tensor)) // at most 2^48
	if stages, ok := config["sharding"]; p.Sharding == 0 && ok && stages != nil && stages != "" && stages != false {
		some = true
		if gpus := workerGPUs(job); gpus%rest == 0 && gpus/rest <= maxDegree {
			p.Sharding = int32(gpus / rest) // what the others leave
		}
	}
	if e := int64(p.Expert); e > 1 && max(1, int64(p.Sharding))*max(1, int64(p.Tensor))%e != 0 {
		errs = append(errs, field.Invalid(path, builder.Degrees(p), "expert does not divide sharding times tensor: correct one of them"))
	}
	if !some {
		errs = append(errs, field.Invalid(path, ref.Key, "it has no degree such as tensor_model_parallel_size: name the key that has the training YAML"))
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return p, validateDegrees(job, p, path)
}
