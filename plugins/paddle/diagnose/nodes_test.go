// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/utils/ptr"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// checks are so many nodes that are alike.
func checks(n int, node checkedNode) (nodes []checkedNode) {
	for i := range n {
		one := node
		if one.domain == "own" {
			one.domain = fmt.Sprintf("own-%d", i)
		}
		nodes = append(nodes, one)
	}
	return nodes
}

func TestChooseBlocker(t *testing.T) {
	taint := blocker{report.UntoleratedTaint, "a=b:NoSchedule"}
	full := blocker{report.InsufficientResources, "cpu"}
	anti := blocker{report.PodAntiAffinity, ""}
	cordoned := blocker{reason: report.NodeUnschedulable, value: "n"}
	free := checkedNode{matches: true, whenEmpty: 2, now: 2}
	other := checkedNode{whenEmpty: 2, now: 2}
	by := func(blockers ...blocker) checkedNode {
		return checkedNode{matches: true, whenEmpty: 2, now: 2, blockers: blockers}
	}
	own := checkedNode{matches: true, whenEmpty: 2, now: 2, domain: "own"}
	rack := checkedNode{matches: true, whenEmpty: 2, now: 2, domain: "rack"}
	join := func(parts ...[]checkedNode) (all []checkedNode) {
		for _, part := range parts {
			all = append(all, part...)
		}
		return all
	}
	apart := func(needed int) *exclusion {
		return &exclusion{blocker: blocker{report.GangAntiAffinity, "host"}, needed: needed}
	}
	for name, test := range map[string]struct {
		nodes    []checkedNode
		needed   int
		excluded *exclusion
		want     blocker // no reason: enough nodes are free
		missing  int
	}{
		"enough nodes are free":                           {join(checks(2, free), checks(5, by(taint))), 4, nil, blocker{}, 0},
		"one is missing, and all others are tainted":      {join(checks(1, free), checks(5, by(taint))), 3, nil, taint, 1},
		"more nodes are full than are tainted":            {join(checks(3, by(full)), checks(2, by(taint))), 2, nil, full, 2},
		"more nodes are tainted than are full":            {join(checks(2, by(full)), checks(3, by(taint))), 2, nil, taint, 2},
		"full nodes that are tainted too free nothing":    {join(checks(5, by(full, taint)), checks(1, by(anti))), 2, nil, anti, 2},
		"no single one frees any: what refuses most":      {join(checks(3, by(full, taint)), checks(2, by(taint, anti))), 2, nil, taint, 2},
		"as many: the fixed order":                        {join(checks(2, by(taint)), checks(2, by(cordoned)), checks(2, by(full))), 2, nil, cordoned, 2},
		"nodes that the selector leaves out do not count": {join(checks(9, other), checks(2, by(taint))), 4, nil, taint, 4},
		"the selector matches nothing":                    {checks(9, other), 1, nil, blocker{reason: report.NodeAffinity}, 1},
		"the selector matches too few":                    {join(checks(9, other), checks(2, free)), 5, nil, blocker{reason: report.NodeAffinity}, 1},
		"the selector matches too few, and they are full": {join(checks(9, other), checks(2, by(full))), 5, nil, blocker{reason: report.NodeAffinity}, 5},
		"the cluster is too small":                        {checks(2, free), 5, nil, blocker{reason: report.InsufficientResources}, 1},
		"nodes that are too small even when empty":        {join(checks(9, checkedNode{matches: true, blockers: []blocker{full}}), checks(1, by(taint))), 2, nil, taint, 2},
		"pods that exclude each other, and nodes enough":  {checks(3, own), 3, apart(3), blocker{}, 0},
		"pods that exclude each other, and too few nodes": {checks(3, own), 4, apart(4), blocker{report.GangAntiAffinity, "host"}, 1},
		"nodes of one rack, and one pod in each rack":     {checks(3, rack), 2, apart(2), blocker{report.GangAntiAffinity, "host"}, 1},
		"two roles that exclude each other":               {checks(3, own), 2, apart(4), blocker{report.GangAntiAffinity, "host"}, 1},
		"pods that exclude each other, and tainted nodes": {join(checks(2, own), checks(2, checkedNode{matches: true, whenEmpty: 1, now: 1, domain: "t", blockers: []blocker{taint}})), 3, apart(3), taint, 1},
	} {
		t.Run(name, func(t *testing.T) {
			chosen, short := chooseBlocker("worker", test.nodes, test.needed, test.excluded)
			require.Equal(t, test.want.reason != "", short)
			if short {
				require.Equal(t, test.want, chosen.blocker)
				require.Equal(t, test.missing, chosen.missing)
				require.Equal(t, len(test.nodes), chosen.nodes.Total)
			}
		})
	}
}

func TestFilterBlockers(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Spec.Containers = []corev1.Container{{Ports: []corev1.ContainerPort{{HostPort: 8080}}}}
	claims := &corev1.Pod{}
	claims.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}}
	status := func(plugin string, reasons ...string) error {
		fit := &api.FitError{}
		for _, reason := range reasons {
			fit.Status = append(fit.Status, &api.Status{Reason: reason, Plugin: plugin})
		}
		return fmt.Errorf("predicates: %w", fit)
	}
	for _, test := range []struct {
		pod  *corev1.Pod
		err  error
		want []blocker
	}{
		{pod, status("", nodeports.ErrReason), []blocker{{report.HostPortConflict, "8080"}}},
		{
			pod, status("", interpodaffinity.ErrReasonExistingAntiAffinityRulesNotMatch, interpodaffinity.ErrReasonAntiAffinityRulesNotMatch),
			[]blocker{{reason: report.PodAntiAffinity}},
		},
		{pod, status("predicates", api.NodePodNumberExceeded), []blocker{{reason: report.TooManyPods}}},
		{pod, status("nodegroup", "not of the queue"), []blocker{{report.RefusedByPlugin, "nodegroup: not of the queue"}}},
		{claims, status("", "cannot allocate all claims"), []blocker{{reason: report.ResourceClaimNotAllocatable}}},
		{claims, status("nodegroup", "no"), []blocker{{report.RefusedByPlugin, "nodegroup: no"}}},
		{pod, errors.New("odd"), []blocker{{report.RefusedByPlugin, "odd"}}},
	} {
		require.Equal(t, test.want, filterBlockers(test.pod, test.err))
	}
}

func TestMissingObjects(t *testing.T) {
	notFound := func(name string) error { return apierrors.NewNotFound(schema.GroupResource{}, name) }
	late, immediate := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	claim := func(volume string, class *string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: volume, StorageClassName: class},
		}
	}
	pod := &corev1.Pod{}
	pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
	}}}
	device := &corev1.Pod{}
	device.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To("gpu-0")}}
	template := &corev1.Pod{}
	template.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr.To("gpus")}}
	made := template.DeepCopy()
	made.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: ptr.To("gpu-0")}}

	for name, test := range map[string]struct {
		pod     *corev1.Pod
		claim   *corev1.PersistentVolumeClaim
		class   *storagev1.StorageClass
		devices bool
		want    report.Reason
		text    string
	}{
		"no volumes":                       {pod: &corev1.Pod{}},
		"no claim":                         {pod: pod, want: report.PersistentVolumeClaimNotFound, text: "PersistentVolumeClaim data does not exist"},
		"bound":                            {pod: pod, claim: claim("pv", ptr.To("fast"))},
		"unbound without a class":          {pod: pod, claim: claim("", nil), want: report.PersistentVolumeClaimUnbound, text: "PersistentVolumeClaim data is not bound to a PersistentVolume"},
		"no class":                         {pod: pod, claim: claim("", ptr.To("fast")), want: report.StorageClassNotFound, text: "StorageClass fast does not exist, so that claims of it cannot be bound"},
		"unbound, at once":                 {pod: pod, claim: claim("", ptr.To("fast")), class: &storagev1.StorageClass{VolumeBindingMode: &immediate}, want: report.PersistentVolumeClaimUnbound},
		"unbound, by default at once":      {pod: pod, claim: claim("", ptr.To("fast")), class: &storagev1.StorageClass{}, want: report.PersistentVolumeClaimUnbound},
		"unbound until pods have a node":   {pod: pod, claim: claim("", ptr.To("fast")), class: &storagev1.StorageClass{VolumeBindingMode: &late}},
		"no resource claim":                {pod: device, want: report.ResourceClaimNotFound, text: "ResourceClaim gpu-0 does not exist"},
		"a resource claim":                 {pod: device, devices: true},
		"no resource claim of a template":  {pod: template, devices: true, want: report.ResourceClaimNotFound, text: "ResourceClaim of template gpus does not exist"},
		"a resource claim of a template":   {pod: made, devices: true},
		"the claim of a template was lost": {pod: made, want: report.ResourceClaimNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			o := Objects{
				Claim: func(_, name string) (*corev1.PersistentVolumeClaim, error) {
					if test.claim == nil {
						return nil, notFound(name)
					}
					return test.claim, nil
				},
				Class: func(name string) (*storagev1.StorageClass, error) {
					if test.class == nil {
						return nil, notFound(name)
					}
					return test.class, nil
				},
				ResourceClaim: func(_, name string) error {
					if !test.devices {
						return notFound(name)
					}
					return nil
				},
			}
			r, found := o.missing(test.pod)
			require.Equal(t, test.want != "", found)
			require.Equal(t, test.want, r.Reason)
			if test.text != "" {
				require.Equal(t, test.text, r.Sentence())
			}
			require.Equal(t, found, len(r.Suggestions) == 1)
		})
	}
}

func TestSelectorsOf(t *testing.T) {
	pod := &corev1.Pod{}
	require.Empty(t, selectorsOf(pod))
	pod.Spec.NodeSelector = map[string]string{"zone": "a", "gpu": "a100"}
	require.Equal(t, "gpu=a100, zone=a", selectorsOf(pod))
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"c", "d"}}}},
			{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpExists}}},
		},
	}}}
	require.Equal(t, "gpu=a100, zone=a, zone In c|d or disk Exists", selectorsOf(pod))
}
