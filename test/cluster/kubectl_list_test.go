// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

func TestListReportsQueuePositions(t *testing.T) {
	t.Parallel()
	u := user{namespace: cluster.Namespace(t)}
	queue := &vcscheduling.Queue{ObjectMeta: metav1.ObjectMeta{Name: u.namespace}, Spec: vcscheduling.QueueSpec{Weight: 1}}
	_, err := cluster.Volcano.SchedulingV1beta1().Queues().Create(t.Context(), queue, metav1.CreateOptions{})
	require.NoError(t, err)
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: u.namespace}, Value: 7}
	_, err = cluster.Kube.SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{})
	require.NoError(t, err)
	awaitRow := func(u user, row string) {
		t.Helper()
		cluster.Await(t, "list to have the row "+row, func(ctx context.Context) error {
			out, errOut, _ := u.paddle(ctx, "list", "-o", "wide")
			if !regexp.MustCompile("(?m)^" + row).MatchString(out) {
				return fmt.Errorf("it has %s%s", out, errOut)
			}
			return nil
		})
	}
	submit := func(name, policy string) {
		// More than the cluster has: it is not admitted, and uses no capacity of the queue that other tests need.
		u.stdin = manifest(name, 1, "nvidia.com/gpu: 900", "  schedulingPolicy: {queue: "+u.namespace+policy+"}\n")
		u.run(t, "submit", "-f", "-")
	}
	row := func(name, ahead string) string {
		return name + ` +Pending +\S+ +Single +<none> +0/1 +` + u.namespace + ` +\S+ +<none> +` + ahead + " "
	}
	submit("first", "") // also by name, which decides within a second
	awaitRow(u, row("first", "0"))
	submit("second", "")
	awaitRow(u, row("second", "1"))
	submit("urgent", ", priorityClass: "+u.namespace)
	awaitRow(u, row("urgent", "0"))
	awaitRow(u, row("first", "1"))
	awaitRow(u, row("second", "2"))

	mate := user{namespace: u.namespace, as: []string{"--as", "colleague"}}
	letRead(t, u.namespace, "colleague", "batch.paddlepaddle.org", "paddlejobs")
	letRead(t, u.namespace, "colleague", "scheduling.volcano.sh", "podgroups")
	awaitRow(mate, row("second", `1\+`)) // by age alone
	_, errOut, _ := mate.paddle(t.Context(), "list", "-o", "wide")
	require.Contains(t, errOut, "Skipped: PodGroups of other namespaces (you have no permission to read them).")
	require.Contains(t, errOut, "Skipped: PriorityClasses, so that queue positions depend on age alone (you have no permission to read them).")
	u.delete(t, "first", "second", "urgent")
}
