// SPDX-License-Identifier: Apache-2.0

// Package simulation answers the requests of package plan: it runs the scheduler on snapshots (plugins/paddle/simulate). It makes no API
// calls and reads neither files nor the clock. A process may answer one request at a time.
package simulation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/simulate"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
)

// Serve reads a request and writes the response, both as JSON.
func Serve(in io.Reader, out io.Writer) error {
	request := &plan.Request{}
	if err := json.NewDecoder(in).Decode(request); err != nil {
		return fmt.Errorf("read a request of kubectl-paddle, which starts this program: %w", err)
	}
	var response *plan.Response
	var err error
	if ours := plan.Version(); request.Version != ours {
		err = fmt.Errorf("kubectl-paddle is of version %s and %s of %s: install both from one build", request.Version, plan.Program, ours)
	} else {
		response, err = Simulate(context.Background(), request)
	}
	if err != nil {
		response = &plan.Response{Error: plan.NewResponseError(err)}
	}
	return json.NewEncoder(out).Encode(response)
}

var _ plan.Simulator = Simulate

// Simulate is the plan.Simulator that runs in this process.
func Simulate(_ context.Context, request *plan.Request) (response *plan.Response, err error) {
	response = &plan.Response{}
	switch {
	case request.Question != nil:
		response.Plan, err = Answer(request.Question)
	case request.Alone != nil:
		response.Ideal, err = Ideal(request.Alone)
	case request.Network != nil:
		response.Tiers = Tiers(request.Network)
	default:
		err = errors.New("the request is empty")
	}
	return response, err
}

// Answer runs the scheduler and returns where the job would be placed.
func Answer(q *plan.Question) (*plan.Plan, error) {
	c, err := clusterOf(q)
	if err != nil {
		return nil, err
	}
	own := simulate.Key(c.wanted)
	p := &plan.Plan{Namespace: c.wanted.Namespace, Name: c.name(own), Taken: c.taken, Notes: c.notes, Displaced: c.gangs(c.displaced)}
	if p.Why = c.missing(q.Snapshot); len(p.Why) > 0 {
		return p, nil
	}
	now, err := simulate.Run(&c.Cluster, own)
	if err != nil {
		return nil, err
	}
	empty, err := simulate.Run(c.emptied(), own)
	if err != nil {
		return nil, err
	}
	p.Notes = append(p.Notes, now.Notes...)
	c.fill(p, now)
	c.compare(p, empty)
	if !p.Fits && len(p.First) > 0 {
		alone, err := simulate.Run(c.alone(), own)
		if err != nil {
			return nil, err
		}
		p.Blocked = c.fits(alone)
	}
	return p, nil
}

// clusterOf returns the cluster of the snapshot with the question's changes and its job.
func clusterOf(q *plan.Question) (*cluster, error) {
	c := newCluster(q.Snapshot)
	c.Scheduler = q.Config.SchedulerName
	if err := c.without(q.Without); err != nil {
		return nil, err
	}
	if err := c.add(q.AddNodes, q.Like); err != nil {
		return nil, err
	}
	if q.Job != nil {
		c.remove(q.Job.Namespace, q.Job.Name)
		c.submit(q.Job, q.Requested, q.Config)
		return c, nil
	}
	return c, c.selectPending(q.Namespace, q.Name)
}

// selectPending selects a pending job.
func (c *cluster) selectPending(namespace, name string) error {
	for i, group := range c.PodGroups {
		if group.Namespace != namespace || group.Labels[v1.JobNameLabel] != name {
			continue
		}
		if group.Status.Phase == vcscheduling.PodGroupRunning {
			return fmt.Errorf("plan %s: %w", name, plan.ErrPlaced)
		}
		group = group.DeepCopy()
		group.Status.Conditions = nil // they are of the time before
		c.PodGroups[i] = group
		c.wanted = group
		return nil
	}
	return fmt.Errorf("plan %s: %w: it has no pending PodGroup in namespace %s; a job that is not submitted is planned by -f FILE", name, plan.ErrNotFound, namespace)
}

// Ideal returns where a job that has its nodes would run on an empty cluster. The snapshot's one PodGroup is the
// job's, and its pods are the job's pods. It is nil if the job would not fit there, for example because nodes were removed.
func Ideal(s *snapshot.Snapshot) (*report.Placement, error) {
	c := newCluster(s)
	c.wanted = c.PodGroups[0].DeepCopy()
	c.wanted.Status = vcscheduling.PodGroupStatus{Phase: vcscheduling.PodGroupInqueue}
	c.openQueue(c.wanted.Spec.Queue)
	c.Pods = slices.DeleteFunc(c.Pods, func(p *corev1.Pod) bool {
		return p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	})
	for i, pod := range c.Pods {
		pod = pod.DeepCopy()
		pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
		c.Pods[i], c.Scheduler = pod, pod.Spec.SchedulerName
	}
	r, err := simulate.Run(c.emptied(), simulate.Key(c.wanted))
	if err != nil || !c.fits(r) {
		return nil, err
	}
	return describe.Placement(r.Groups[simulate.Key(c.wanted)]), nil
}

// Tiers returns the tiers that the scheduler's plugin plans with. Labels that the user asks for come first, then HyperNodes that have a
// node, then the scheduler's labels.
func Tiers(n *plan.Network) *plan.Tiers {
	hypers, labels := n.HyperNodes, n.Labels
	if len(labels) > 0 {
		hypers = nil
	} else {
		labels = usedLabels(n.Nodes, n.SchedulerLabels)
	}
	view, err := topology.ViewOf(n.Nodes, hypers)
	tiers, source, notes := topology.Tiers(topology.Options{Labels: labels}, view)
	if err != nil {
		notes = append(notes, strings.Split(err.Error(), "\n")...)
	}
	found := &plan.Tiers{Source: string(source), Notes: notes}
	for _, tier := range tiers {
		found.Tiers = append(found.Tiers, plan.Tier(tier))
		if tier.Name == topology.NVLinkTier {
			found.Notes = append(found.Notes, "NVLink domains are those of the label "+topology.CliqueLabel)
		}
	}
	return found
}

// usedLabels returns the labels that a node has, and all if no node has any: a configuration may name those of many kinds of
// clusters.
func usedLabels(nodes []*corev1.Node, labels []string) (used []string) {
	for _, key := range labels {
		if slices.ContainsFunc(nodes, func(node *corev1.Node) bool { return node.Labels[key] != "" }) {
			used = append(used, key)
		}
	}
	if len(used) == 0 {
		return labels
	}
	return used
}
