// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/deploy"
)

//go:embed too_large.yaml
var ownFiles embed.FS

// job is one job of the demo.
type job struct {
	// namespace holds this job alone: three of the published jobs have the same name.
	namespace, name string
	from            fs.FS
	// files are created in this order.
	files []string
	// raw is a Volcano Job without a PaddleJob.
	raw bool
	// waits is a job whose gang does not fit.
	waits bool
}

// jobs are in the order of their submission.
func jobs() []job {
	published := func(namespace, name string, files ...string) job {
		return job{namespace: namespace, name: name, from: deploy.Files, files: files}
	}
	raw := published("ctr-volcano", "ctr-volcano", "examples/ctr-volcano.yaml")
	raw.raw = true
	return []job{
		published("wide-and-deep", "wide-ande-deep", "examples/wide_and_deep.yaml"),
		published("resnet", "resnet", "examples/resnet.yaml"),
		published("gpu-node-selector", "wide-ande-deep", "examples/gpu_node_selector.yaml"),
		published("volume-claim", "paddlejob-demo-1", "examples/pv-pvc.yaml", "examples/wide_and_deep_pvc.yaml"),
		published("own-podgroup", "wide-ande-deep", "examples/wide_and_deep_podgroup.yaml"),
		raw,
		{namespace: "too-large", name: "too-large", from: ownFiles, files: []string{"too_large.yaml"}, waits: true},
	}
}

// fault returns what an ended demo requires of a PaddleJob and does not find: Completed, or for a job that waits, pods without nodes and
// the reason why.
func (j job) fault(now *paddlev1.PaddleJob, pods []corev1.Pod) error {
	want := paddlev1.Completed
	if j.waits {
		want = paddlev1.Pending
	}
	for i := range pods {
		if node := pods[i].Spec.NodeName; j.waits && node != "" {
			return fmt.Errorf("pod %s is bound to %s although its gang does not fit", pods[i].Name, node)
		}
	}
	scheduled := meta.FindStatusCondition(now.Status.Conditions, paddlev1.ConditionScheduled)
	switch {
	case now.Status.Phase != want:
		return fmt.Errorf("its phase is %q, not %q", now.Status.Phase, want)
	case j.waits && len(pods) == 0:
		return errors.New("it has no pods")
	case j.waits && (scheduled == nil || scheduled.Status != metav1.ConditionFalse || !lifecycle.IsWaitingReason(scheduled.Reason)):
		return errors.New("it gives no reason for being Pending")
	}
	return nil
}
