// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
)

// Reasons of conditions, as Kubeflow's tools know them.
const (
	reasonCreated    = kubeflowv1.Kind + "Created"
	reasonRunning    = kubeflowv1.Kind + "Running"
	reasonNotRunning = kubeflowv1.Kind + "NotRunning"
	reasonRestarting = kubeflowv1.Kind + "Restarting"
	reasonRestarted  = kubeflowv1.Kind + "Restarted"
	reasonSuspended  = kubeflowv1.Kind + "Suspended"
	reasonResumed    = kubeflowv1.Kind + "Resumed"
	reasonSucceeded  = kubeflowv1.Kind + "Succeeded"
	reasonFailed     = kubeflowv1.Kind + "Failed"
	reasonProceeding = "Proceeding"
)

// conditionSetter writes the conditions of a status.
type conditionSetter struct {
	next *kubeflowv1.JobStatus
	job  *kubeflowv1.PaddleJob
	now  metav1.Time
}

func find(status *kubeflowv1.JobStatus, kind kubeflowv1.ConditionType) *kubeflowv1.JobCondition {
	for i := range status.Conditions {
		if status.Conditions[i].Type == kind {
			return &status.Conditions[i]
		}
	}
	return nil
}

func isTrue(status *kubeflowv1.JobStatus, kind kubeflowv1.ConditionType) bool {
	c := find(status, kind)
	return c != nil && c.Status == corev1.ConditionTrue
}

// set writes one condition. The last condition is what tools show as the job's state, so that what is so stands behind
// what is not, in the order in which it came to be.
func (s *conditionSetter) set(kind kubeflowv1.ConditionType, is bool, reason, message string) {
	state := corev1.ConditionFalse
	if is {
		state = corev1.ConditionTrue
	}
	made := kubeflowv1.JobCondition{
		Type: kind, Status: state, Reason: reason, Message: message, LastUpdateTime: s.now, LastTransitionTime: s.now,
	}
	if old := find(s.next, kind); old != nil {
		if old.Status == state && old.Reason == reason && old.Message == message {
			return
		}
		if old.Status == state {
			made.LastTransitionTime = old.LastTransitionTime
			*old = made
			return
		}
	}
	all := slices.DeleteFunc(s.next.Conditions, func(c kubeflowv1.JobCondition) bool { return c.Type == kind })
	all = append(all, made)
	slices.SortStableFunc(all, func(a, b kubeflowv1.JobCondition) int { return rank(a) - rank(b) })
	s.next.Conditions = all
}

func rank(c kubeflowv1.JobCondition) int {
	if c.Status == corev1.ConditionTrue {
		return 1
	}
	return 0
}

// unset makes a condition False that is True, and says nothing where it is not.
func (s *conditionSetter) unset(kind kubeflowv1.ConditionType, reason, message string) {
	if isTrue(s.next, kind) {
		s.set(kind, false, reason, message)
	}
}

func (s *conditionSetter) says(what string) string {
	return fmt.Sprintf("PaddleJob %s is %s.", s.job.Name, what)
}

// created tells that the job is looked after, with all that a user has to know about that, and why it does not run yet.
func (s *conditionSetter) created(made *batchv1.PaddleJob, plan *Plan) {
	if made == nil {
		why := plan.Waiting
		if why == nil {
			why = plan.Stalled
		}
		if why != nil && !isTrue(s.next, kubeflowv1.ConditionCreated) {
			s.set(kubeflowv1.ConditionCreated, false, why.Reason, why.Message)
		}
		return
	}
	reason, lines := reasonCreated, []string{}
	if plan.SpecNotSynced != nil {
		reason, lines = plan.SpecNotSynced.Reason, append(lines, plan.SpecNotSynced.Message)
	} else if len(plan.Warnings) > 0 {
		lines = append(lines, texts(plan.Warnings))
	}
	if c := conditionOf(made, batchv1.ConditionCreated); c != nil {
		notApplied := c.Reason == lifecycle.ReasonSpecChangeNotApplied || c.Reason == lifecycle.ReasonSpecChangeRefused || lifecycle.IsRefusal(c.Reason)
		if plan.SpecNotSynced == nil && notApplied {
			reason = c.Reason
		}
		lines = append(lines, translateFieldPaths(c.Message))
	}
	for _, kind := range []string{batchv1.ConditionScheduled, batchv1.ConditionRunning} {
		if c := conditionOf(made, kind); c != nil && c.Status == metav1.ConditionFalse && lifecycle.IsWaitingReason(c.Reason) {
			lines = append(lines, c.Reason+": "+translateFieldPaths(c.Message))
		}
	}
	if c := conditionOf(made, batchv1.ConditionLauncherUsable); c != nil && c.Status == metav1.ConditionFalse {
		lines = append(lines, c.Reason+": "+translateFieldPaths(c.Message))
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	if len(lines) == 0 {
		lines = append(lines, s.says("created"))
	}
	s.set(kubeflowv1.ConditionCreated, true, reason, strings.Join(lines, "; "))
}

func (s *conditionSetter) stalled(made *batchv1.PaddleJob, plan *Plan) {
	if plan.Stalled != nil {
		s.set(kubeflowv1.ConditionStalled, true, plan.Stalled.Reason, plan.Stalled.Message)
		return
	}
	if c := conditionOf(made, batchv1.ConditionStalled); holds(c) {
		s.set(kubeflowv1.ConditionStalled, true, c.Reason, translateFieldPaths(c.Message))
		return
	}
	s.unset(kubeflowv1.ConditionStalled, reasonProceeding, "")
}

func (s *conditionSetter) suspended(made *batchv1.PaddleJob) {
	switch c := conditionOf(made, batchv1.ConditionSuspended); {
	case holds(c):
		s.set(kubeflowv1.ConditionSuspended, true, reasonSuspended, s.says("suspended"))
	case made != nil:
		s.unset(kubeflowv1.ConditionSuspended, reasonResumed, s.says("resumed"))
	}
}

func (s *conditionSetter) restarting(made *batchv1.PaddleJob) {
	switch c := conditionOf(made, batchv1.ConditionRestarting); {
	case holds(c):
		s.set(kubeflowv1.ConditionRestarting, true, reasonRestarting, translateFieldPaths(c.Message))
	case made != nil:
		s.unset(kubeflowv1.ConditionRestarting, reasonRestarted, "")
	}
}

func (s *conditionSetter) running(made *batchv1.PaddleJob) {
	switch {
	case holds(conditionOf(made, batchv1.ConditionRunning)):
		s.set(kubeflowv1.ConditionRunning, true, reasonRunning, s.says("running"))
	case isTrue(s.next, kubeflowv1.ConditionSuspended):
		s.unset(kubeflowv1.ConditionRunning, reasonSuspended, s.says("suspended"))
	case isTrue(s.next, kubeflowv1.ConditionRestarting):
		s.unset(kubeflowv1.ConditionRunning, reasonRestarting, s.says("restarting"))
	default:
		s.unset(kubeflowv1.ConditionRunning, reasonNotRunning, "")
	}
}

// ended tells how the job has ended, once.
func (s *conditionSetter) ended(made *batchv1.PaddleJob) {
	kind, reason, message := kubeflowv1.ConditionSucceeded, reasonSucceeded, fmt.Sprintf("PaddleJob %s is successfully completed.", s.job.Name)
	if c := conditionOf(made, batchv1.ConditionFailed); holds(c) {
		kind, reason, message = kubeflowv1.ConditionFailed, reasonFailed, translateFieldPaths(c.Message)
	} else if !holds(conditionOf(made, batchv1.ConditionSucceeded)) {
		return
	}
	s.unset(kubeflowv1.ConditionStalled, reasonProceeding, "")
	s.unset(kubeflowv1.ConditionSuspended, reason, "")
	s.unset(kubeflowv1.ConditionRestarting, reason, "")
	s.unset(kubeflowv1.ConditionRunning, reason, "")
	s.set(kind, true, reason, message)
}
