// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"volcano.sh/apis/pkg/apis/scheduling"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

const (
	// conditionPlaced is the type of the condition on PodGroups of Paddle jobs that says where the gang runs, or why it
	// does not. Nobody else writes it.
	conditionPlaced scheduling.PodGroupConditionType = report.Condition
	// maxMessage bounds the condition's message, in bytes: PodGroups of thousands of jobs are kept in memory.
	maxMessage = 4096
)

// waiting begins the last line of a condition's message that is about pods beyond the minimum.
const waiting = "waiting: "

// conditionOf is the condition of our type, false if there is none.
func conditionOf(conditions []scheduling.PodGroupCondition) (scheduling.PodGroupCondition, bool) {
	at := slices.IndexFunc(conditions, func(c scheduling.PodGroupCondition) bool { return c.Type == conditionPlaced })
	if at < 0 {
		return scheduling.PodGroupCondition{}, false
	}
	return conditions[at], true
}

// pendingCondition is the condition of a gang that waits.
func pendingCondition(v verdict) scheduling.PodGroupCondition {
	return scheduling.PodGroupCondition{
		Type: conditionPlaced, Status: corev1.ConditionFalse, Reason: string(v.reason), Message: messageOf(v),
	}
}

// placedCondition is the condition of a gang that has its nodes; waits is of its pods beyond the minimum.
func placedCondition(where, waits verdict) scheduling.PodGroupCondition {
	message := messageOf(where)
	if waits.text != "" {
		message = report.Shorten(message, maxMessage/2) + "\n" + waiting + waits.text
	}
	return scheduling.PodGroupCondition{
		Type: conditionPlaced, Status: corev1.ConditionTrue, Reason: string(report.Placed), Message: report.Shorten(message, maxMessage),
	}
}

// messageOf is a verdict in full: its first line is the text.
func messageOf(v verdict) string {
	text := strings.ReplaceAll(v.text, "\n", " ")
	if details := strings.Trim(v.details, "\n"); details != "" {
		text += "\n" + details
	}
	return report.Shorten(text, maxMessage)
}

// verdictIn is what a condition says, but for pods beyond the minimum.
func verdictIn(c scheduling.PodGroupCondition) verdict {
	message, _, _ := strings.Cut(c.Message, "\n"+waiting)
	text, details, _ := strings.Cut(message, "\n")
	return verdict{reason: report.Reason(c.Reason), text: text, details: details}
}
