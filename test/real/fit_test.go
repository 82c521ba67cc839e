// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

const (
	// modelsAt is where containers see the folder of the models.
	modelsAt = "/models"
	// marker is the variable by which a process of a pod is found on the machine; its value is the trial's folder.
	marker = "TEST_REAL_FOLDER"
	// stepTime leaves time to read what is said before pods are deleted.
	stepTime = "50ms"
)

// least is what pods may request here at most: examples want more than a small machine has.
var least = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceEphemeralStorage: resource.MustParse("1Mi")}

// fit makes a pod fit for the real node: nothing is pulled, folders of the machine are the trial's, the model is written
// where the test finds it, and requests are small. Everything else stays as it is.
func (r *trial) fit(pod *corev1.PodTemplateSpec, env map[string]string) {
	for i := range pod.Spec.Volumes {
		if host := pod.Spec.Volumes[i].HostPath; host != nil {
			host.Path, host.Type = filepath.Join(r.folder, "host", host.Path), ptr.To(corev1.HostPathDirectoryOrCreate)
		}
	}
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "models", VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: r.models(), Type: ptr.To(corev1.HostPathDirectory)},
	}})
	c := &pod.Spec.Containers[0]
	c.ImagePullPolicy = corev1.PullNever
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "models", MountPath: modelsAt})
	all := map[string]string{"MODEL_DIR": modelsAt, "TRAINER_STEP_TIME": stepTime, "CUDA_VISIBLE_DEVICES": "0", marker: r.folder}
	maps.Copy(all, env)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == name }) {
			c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: all[name]})
		}
	}
	for name, most := range least {
		if asked, ok := c.Resources.Requests[name]; ok && asked.Cmp(most) > 0 {
			c.Resources.Requests[name] = most
		}
	}
}

// fitObject fits all templates of pods in an object of any kind.
func (r *trial) fitObject(t *testing.T, object *unstructured.Unstructured, env map[string]string) {
	t.Helper()
	found := 0
	var walk func(value any)
	walk = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, item := range value {
				walk(item)
			}
		case map[string]any:
			for key, item := range value {
				template, ok := item.(map[string]any)
				if !ok || key != "template" {
					walk(item)
					continue
				}
				var pod corev1.PodTemplateSpec
				require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(template, &pod))
				r.fit(&pod, env)
				fitted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pod)
				require.NoError(t, err)
				value[key] = fitted
				found++
			}
		}
	}
	walk(object.Object["spec"])
	require.Positive(t, found, "%s %s has no pods", object.GetKind(), object.GetName())
}
