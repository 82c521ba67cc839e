// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/conformance"
	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

// podsOf returns a Volcano Job's pods that have neither ended nor are being deleted.
func podsOf(ctx context.Context, namespace, job string) ([]*corev1.Pod, error) {
	list, err := cluster.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: vcbatch.JobNameKey + "=" + job})
	if err != nil {
		return nil, err
	}
	var pods []*corev1.Pod
	for i := range list.Items {
		if pod := &list.Items[i]; alive(pod) {
			pods = append(pods, pod)
		}
	}
	return pods, nil
}

func alive(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
}

// gangOf reads all that the API server has of a job's pods. It fails while a container could not start.
func gangOf(ctx context.Context, mode conformance.Mode, namespace, job string, size int) (*conformance.Gang, error) {
	// Before the pods: it is written when all is known of them.
	data := map[string]map[string]string{}
	maps, err := cluster.Kube.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range maps.Items {
		data[maps.Items[i].Name] = maps.Items[i].Data
	}
	pods, err := podsOf(ctx, namespace, job)
	if err != nil {
		return nil, err
	}
	if len(pods) != size {
		return nil, fmt.Errorf("%d pods of %d are there", len(pods), size)
	}
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP == "" {
			return nil, fmt.Errorf("pod %s is %s with IP %q", pod.Name, pod.Status.Phase, pod.Status.PodIP)
		}
	}
	list, err := cluster.Kube.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var services []*corev1.Service
	for i := range list.Items {
		services = append(services, &list.Items[i])
	}
	return conformance.NewGang(mode, pods, services, func(name string) (map[string]string, bool) {
		found, ok := data[name]
		return found, ok
	})
}

func role(replicas int) *v1.ResourceSpec {
	return &v1.ResourceSpec{Replicas: int32(replicas), Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{stages.AnnotationRunFor: "forever"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "paddle", Image: "paddle"}}},
	}}
}

//nolint:tparallel // the subtests wait, one after the other, for jobs that start together
func TestRunningJobsTrain(t *testing.T) {
	t.Parallel()
	jobs := []struct {
		name string
		mode conformance.Mode
		size int
		spec v1.PaddleJobSpec
	}{
		{"ps", conformance.PS, 5, v1.PaddleJobSpec{PS: role(2), Worker: role(3), WithGloo: ptr.To[int32](1)}},
		{"ps-all", conformance.PS, 3, v1.PaddleJobSpec{PS: role(1), Worker: role(2), WithGloo: ptr.To[int32](2)}},
		{"collective", conformance.Collective, 3, v1.PaddleJobSpec{Worker: role(3)}},
		{"single", conformance.Single, 1, v1.PaddleJobSpec{Worker: role(1)}},
		{"heter", conformance.PS, 5, v1.PaddleJobSpec{PS: role(1), Worker: role(2), Heter: role(2), WithGloo: ptr.To[int32](1)}},
		{"elastic", conformance.Elastic, 3, v1.PaddleJobSpec{Worker: elastic(2, 3, 4), Elastic: ptr.To[int32](1), ElasticPolicy: &v1.ElasticPolicy{Etcd: "kv:2379"}}},
	}
	space := cluster.Namespace(t)
	intranets := []v1.Intranet{"", v1.PodIP, v1.Service, v1.Host}
	nameOf := func(job string, intranet v1.Intranet) string {
		return strings.TrimSuffix(job+"-"+strings.ToLower(string(intranet)), "-")
	}
	for _, job := range jobs {
		for _, intranet := range intranets {
			made := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: nameOf(job.name, intranet)}, Spec: *job.spec.DeepCopy()}
			made.Spec.Intranet = intranet
			if intranet == v1.Host && job.mode == conformance.Collective {
				made.Spec.Worker.Template.Spec.Affinity = apart(made.Name)
			}
			_, err := cluster.Paddle.BatchV1().PaddleJobs(space).Create(t.Context(), made, metav1.CreateOptions{})
			require.NoError(t, err)
		}
	}
	var seen []conformance.Pod
	for _, job := range jobs {
		for _, intranet := range intranets {
			name := nameOf(job.name, intranet)
			t.Run(name, func(t *testing.T) {
				var gang *conformance.Gang
				cluster.Await(t, "all containers of "+name, func(ctx context.Context) (err error) {
					gang, err = gangOf(ctx, job.mode, space, name, job.size)
					return err
				})
				if job.mode == conformance.PS && (intranet == v1.Host || intranet != v1.Service && alike(gang.Pods)) {
					gang.Direct() // its pods may share a node, or the launcher cannot tell them apart
				}
				require.NoError(t, gang.Check())
				seen = append(seen, gang.Pods...)
				for _, pod := range gang.Pods {
					require.Equal(t, intranet == v1.Service, pod.Env["POD_IP"] == pod.Name+"."+name, "POD_IP=%s", pod.Env["POD_IP"])
				}
			})
		}
	}
	// All of these jobs still run, some on the same nodes.
	shared := 0
	for i := range seen {
		for j := range seen[:i] {
			if seen[i].Env["PORT_RANGE"] != "" && seen[i].IP == seen[j].IP {
				shared++
				require.NoError(t, conformance.Collide(&seen[i], &seen[j]))
			}
		}
	}
	require.Positive(t, shared, "there are fewer nodes than pods that have their addresses")
}

// alike reports whether the address of one pod is a prefix of another's, as in TestTheLauncherStartsNoOtherPodsProcesses.
func alike(pods []conformance.Pod) bool {
	for i := range pods {
		for j := range pods {
			if pods[i].IP != pods[j].IP && strings.HasPrefix(pods[j].IP, pods[i].IP) {
				return true
			}
		}
	}
	return false
}

func TestTheLauncherStartsNoOtherPodsProcesses(t *testing.T) {
	t.Parallel()
	space, jobs := cluster.Namespace(t), cluster.Paddle.BatchV1()
	_, err := jobs.PaddleJobs(space).Create(t.Context(), &v1.PaddleJob{
		ObjectMeta: metav1.ObjectMeta{Name: "alike"}, Spec: v1.PaddleJobSpec{PS: role(1), Worker: role(1)},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	cluster.Await(t, "all containers", func(ctx context.Context) error {
		_, err := gangOf(ctx, conformance.PS, space, "alike", 2)
		return err
	})
	for pod, address := range map[string]string{"alike-ps-0": "10.128.0.5", "alike-worker-0": "10.128.0.50"} {
		patch := fmt.Appendf(nil, `{"status":{"podIP":%q,"podIPs":[{"ip":%q}]}}`, address, address)
		_, err := cluster.Kube.CoreV1().Pods(space).Patch(t.Context(), pod, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		require.NoError(t, err)
	}
	cluster.AwaitJob(t, space, "alike", "without a usable launcher", func(job *v1.PaddleJob) bool {
		c := meta.FindStatusCondition(job.Status.Conditions, v1.ConditionLauncherUsable)
		return c != nil && c.Reason == lifecycle.ReasonAddressPrefix
	})
	cluster.Await(t, "an environment on which the launcher fails", func(ctx context.Context) error {
		gang, err := gangOf(ctx, conformance.PS, space, "alike", 2)
		if err != nil {
			return err
		}
		for _, pod := range gang.Pods {
			if _, err := rules.Launch(pod.Env, pod.IP, rules.Newest); err == nil || !strings.Contains(err.Error(), "IndexError") {
				return fmt.Errorf("the launcher of %s says %w", pod.Name, err)
			}
		}
		return gang.Direct().Check()
	})
}

// elastic returns a role of some pods between two bounds.
func elastic(least int32, replicas int, most int32) *v1.ResourceSpec {
	spec := role(replicas)
	spec.Requests, spec.Limits = &least, &most
	return spec
}

// apart keeps a job's pods on separate nodes.
func apart(job string) *corev1.Affinity {
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{vcbatch.JobNameKey: job}},
	}}}}
}

// The Volcano Job of 2019 knows its peers by their labels, so that these labels may not be removed.
func TestTheCTRExampleTrains(t *testing.T) {
	t.Parallel()
	space := cluster.Namespace(t)
	objects, err := manifests.Read(deploy.Files, "examples/ctr-volcano.yaml")
	require.NoError(t, err)
	client, err := manifests.NewClient(cluster.RESTConfig())
	require.NoError(t, err)
	_, err = client.Create(t.Context(), space, metav1.CreateOptions{}, objects...)
	require.NoError(t, err)
	var gang *conformance.Gang
	cluster.Await(t, "all containers of ctr-volcano", func(ctx context.Context) (err error) {
		gang, err = gangOf(ctx, conformance.PS, space, "ctr-volcano", 4)
		return err
	})
	pods, err := podsOf(t.Context(), space, "ctr-volcano")
	require.NoError(t, err)
	var seen []rules.CTRPod
	for _, pod := range pods {
		seen = append(seen, rules.CTRPod{Labels: pod.Labels, IP: pod.Status.PodIP})
	}
	indices := map[string][]int{}
	for _, pod := range gang.Pods {
		role, err := rules.CTRScript(pod.Env, pod.IP, seen)
		require.NoError(t, err, pod.Name)
		require.Equal(t, pod.Role, role.Role)
		require.Equal(t, pod.Role, pod.Env["TRAINING_ROLE"])
		require.Len(t, role.Servers, 2)
		require.Equal(t, 2, role.Workers)
		require.Equal(t, pod.IP, pod.Env["POD_IP"])
		require.Equal(t, pod.Name, pod.Env["POD_NAME"])
		indices[role.Role] = append(indices[role.Role], role.Index)
	}
	for role, found := range indices {
		require.ElementsMatch(t, []int{0, 1}, found, role)
	}
}
