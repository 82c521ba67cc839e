// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// letReadAll permits a user to read kinds in the whole cluster.
func letReadAll(t *testing.T, name string, rules map[string][]string) {
	t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for group, resources := range rules {
		role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: []string{"get", "list"}})
	}
	rbac := cluster.Kube.RbacV1()
	_, err := rbac.ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = rbac.ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	for group, resources := range rules {
		for _, resource := range resources {
			cluster.Await(t, name+" to be allowed to list "+resource, func(ctx context.Context) error {
				review, err := cluster.Kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
					Spec: authorizationv1.SubjectAccessReviewSpec{User: name, ResourceAttributes: &authorizationv1.ResourceAttributes{
						Group: group, Resource: resource, Verb: "list",
					}},
				}, metav1.CreateOptions{})
				if err == nil && !review.Status.Allowed {
					err = errors.New("the API server does not know of the rule yet")
				}
				return err
			})
		}
	}
}

// planned returns what plan -o json says, and its exit code.
func (u user) planned(t *testing.T, args ...string) (p plan.Plan, code int) {
	t.Helper()
	out, errOut, code := u.paddle(t.Context(), append([]string{"plan", "-o", "json"}, args...)...)
	require.NoError(t, json.Unmarshal([]byte(out), &p), "%s", errOut)
	p.Taken = metav1.Time{}
	return p, code
}

// places are how many pods of a role are on a node, by "role node".
type places map[string]int

func plannedPlaces(p plan.Plan) places {
	all := places{}
	for _, role := range p.Roles {
		for _, place := range role.Places {
			all[role.Name+" "+place.Node] = place.Pods
		}
	}
	return all
}

func (u user) places(t *testing.T, job string) places {
	t.Helper()
	pods, err := cluster.Kube.CoreV1().Pods(u.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: v1.JobNameLabel + "=" + job})
	require.NoError(t, err)
	all := places{}
	for i := range pods.Items {
		all[pods.Items[i].Labels[v1.ResourceTypeLabel]+" "+pods.Items[i].Spec.NodeName]++
	}
	return all
}

// No other test runs at the same time: parallel tests wait. What is planned, by a user who may only
// read, is what the scheduler then does.
func TestThePlanIsWhatTheSchedulerDoes(t *testing.T) {
	admin := user{namespace: cluster.Namespace(t)}
	reader := user{namespace: admin.namespace, as: []string{"--as", "planner"}}
	letReadAll(t, "planner", map[string][]string{
		"":                  {"nodes", "pods", "namespaces", "resourcequotas", "configmaps"},
		"scheduling.k8s.io": {"priorityclasses"}, "scheduling.volcano.sh": {"queues", "podgroups"},
		"topology.volcano.sh": {"hypernodes"}, "batch.volcano.sh": {"jobs"}, "apps": {"deployments"},
	})
	submit := func(name, text string) {
		admin.stdin = text
		admin.run(t, "submit", "-f", "-")
		admin.awaitSaid(t, []string{"has been running for"}, "why", name)
	}
	submit("before", manifest("before", 3, "nvidia.com/gpu: 1"))

	job := manifest("ring", 8, "nvidia.com/gpu: 2", "  ps:\n    replicas: 2\n    template: {spec: {containers: [{name: paddle, image: paddle}]}}\n")
	reader.stdin = job
	p, code := reader.planned(t, "-f", "-")
	require.Zero(t, code)
	require.True(t, p.Fits)
	require.Empty(t, p.Notes)
	require.Len(t, reader.jobs(t), 1, "a plan creates nothing")
	file := filepath.Join(t.TempDir(), "cluster.json.gz")
	require.Contains(t, reader.run(t, "snapshot", "-o", file), "16 nodes")
	text := reader.run(t, "plan", "-f", "-")
	require.Contains(t, text, "ring fits: it would start now.\n")

	submit("ring", job)
	require.Equal(t, admin.places(t, "ring"), plannedPlaces(p))
	admin.awaitSaid(t, []string{p.Where}, "why", "ring")
	requireTraffic(t, admin, p)

	// Whatever has happened since, the snapshot says what it said, without the cluster.
	offline := user{namespace: admin.namespace, stdin: job, as: []string{"--server", "https://127.0.0.1:1"}}
	require.Equal(t, text, offline.run(t, "plan", "-f", "-", "--snapshot", file))
	again, _ := reader.planned(t, "-f", "-")
	require.Contains(t, again.Notes[0], "job ring exists already")
	require.Equal(t, plannedPlaces(p), plannedPlaces(again))

	// A job that does not fit gets the text that the scheduler then writes.
	admin.stdin = manifest("huge", 5, "nvidia.com/gpu: 3")
	reader.stdin = admin.stdin
	p, code = reader.planned(t, "-f", "-")
	require.Equal(t, 5, code)
	admin.run(t, "submit", "-f", "-")
	for _, sentence := range p.Why {
		admin.awaitSaid(t, []string{sentence.Text[1:]}, "why", "huge")
	}
	waiting, code := reader.planned(t, "huge")
	require.Equal(t, 5, code)
	require.Equal(t, p.Why, waiting.Why)
	gpuNode := again.Roles[1].Places[0].Node
	more, code := reader.planned(t, "huge", "--add-nodes", "4", "--like", gpuNode)
	require.Zero(t, code)
	require.True(t, more.Fits)
	fewer, code := reader.planned(t, "huge", "--without-node", gpuNode)
	require.Equal(t, 5, code)
	require.Equal(t, "ring", fewer.Displaced[0].Name)
	admin.delete(t, "before", "ring", "huge") // with their pods: other tests need the capacity
}

// requireTraffic holds describe to what was planned: what a step sends, and what it would send on an empty cluster, which takes the
// right to read nodes.
func requireTraffic(t *testing.T, admin user, p plan.Plan) {
	t.Helper()
	require.Positive(t, p.Traffic[0].Now, "the job is on several nodes, or this tests nothing")
	require.InDelta(t, p.Traffic[0].Now, *p.Traffic[0].Best, 0)
	require.Regexp(t, fmt.Sprintf(`(?m)^A step sends: +%.3g times the model between nodes`, p.Traffic[0].Now), admin.run(t, "describe", "ring"))
	require.Regexp(t, `(?m)^On an empty cluster: +the same$`, admin.run(t, "describe", "ring"))

	mate := user{namespace: admin.namespace, as: []string{"--as", "mate"}}
	letRead(t, mate.namespace, "mate", "batch.paddlepaddle.org", "paddlejobs")
	letRead(t, mate.namespace, "mate", "scheduling.volcano.sh", "podgroups")
	out, errOut, code := mate.paddle(t.Context(), "describe", "ring")
	require.Zero(t, code, errOut)
	require.Contains(t, out, "A step sends:")
	require.NotContains(t, out, "On an empty cluster:")
	require.Contains(t, errOut, "Skipped: what a step would send on an empty cluster: nodes (you have no permission to read them).")
}

func TestWhatAPlanNeeds(t *testing.T) {
	t.Parallel()
	u := user{namespace: cluster.Namespace(t), stdin: manifest("small", 1, "cpu: 1"), as: []string{"--as", "looker"}}
	_, errOut, code := u.paddle(t.Context(), "plan", "-f", "-")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "read the cluster's nodes, without which nothing can be planned")
	letReadAll(t, "looker", map[string][]string{"": {"nodes", "pods"}})
	out, errOut, code := u.paddle(t.Context(), "plan", "-f", "-")
	require.Zero(t, code, errOut)
	require.Contains(t, out, "small fits: it would start now.")
	for _, what := range []string{"HyperNodes", "queues", "PodGroups", "the scheduler's configuration"} {
		require.Contains(t, errOut, "Skipped: "+what+" (you have no permission to read them).")
	}
	require.Contains(t, errOut, "Assumed: the scheduler's configuration is that of deploy/v1/scheduler.yaml.")
	missing := filepath.Join(t.TempDir(), "none")
	for _, test := range []struct {
		code int
		args []string
	}{
		{2, []string{"plan"}}, {2, []string{"plan", "-f", "-", "job"}}, {2, []string{"plan", "a", "b"}}, {2, []string{"plan", "a", "-o", "wide"}},
		{2, []string{"plan", "a", "--add-nodes", "-1"}}, {2, []string{"plan", "a", "--like", "n"}}, {1, []string{"plan", "a", "--snapshot", missing}},
		{3, []string{"plan", "none"}}, {3, []string{"plan", "-f", "-", "--without-node", "none"}}, {1, []string{"plan", "-f", "-", "--scheduler-config", missing}},
	} {
		_, errOut, code := u.paddle(t.Context(), test.args...)
		require.Equal(t, test.code, code, "%v: %s", test.args, errOut)
	}
}
