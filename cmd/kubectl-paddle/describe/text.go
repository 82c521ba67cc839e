// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// sentence returns a text as a sentence: it begins with a capital, unless its first word is a name or a command, and ends with a full stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	first, _, _ := strings.Cut(text, " ")
	if first != "kubectl" && !strings.ContainsFunc(first, func(r rune) bool { return !unicode.IsLower(r) && r != ',' && r != ':' }) {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") {
		return text
	}
	return text + "."
}

// shortened returns the first line of a text, and of that at most so many characters; 0 is no limit.
func shortened(text string, most int) string {
	text, _, _ = strings.Cut(text, "\n")
	if runes := []rune(text); most > 0 && len(runes) > most {
		return strings.TrimRight(string(runes[:most-1]), " ,;:") + "…"
	}
	return text
}

// some lists at most 5 names.
func some(names []string) string {
	const maxNames = 5
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:maxNames], ", ") + " and " + Count(len(names)-maxNames, "other")
}

// Count returns a number with its noun: "1 pod", "2 pods".
func Count(n int, noun string) string { return strconv.Itoa(n) + " " + report.Plural(n, noun) }

func shortDuration(d time.Duration) string { return duration.HumanDuration(max(d, 0)) }

// Cause returns the reason for which a job does not run, by its status alone, and its message. They are "" if it runs.
func Cause(job *v1.PaddleJob, now time.Time) (reason, message string) {
	o := &Objects{Job: job, Now: now}
	var c *metav1.Condition
	switch phase := job.Status.Phase; {
	case job.DeletionTimestamp != nil || phase == v1.Completed || o.holds(v1.ConditionSuspended) != nil:
	case phase == "" && now.Sub(job.CreationTimestamp.Time) > unseen:
		return "NotProcessed", "the controller has not processed it"
	case phase == v1.Failed:
		c = o.condition(v1.ConditionFailed)
	case o.holds(v1.ConditionStalled) != nil:
		c = o.condition(v1.ConditionStalled)
	case o.holds(v1.ConditionRestarting) != nil:
		c = o.condition(v1.ConditionRestarting)
	case phase == v1.Running:
	case o.holds(v1.ConditionScheduled) != nil:
		c = o.condition(v1.ConditionRunning)
	default:
		c = o.condition(v1.ConditionScheduled)
		if c == nil || c.Message == "" && o.condition(v1.ConditionCreated) != nil {
			c = o.condition(v1.ConditionCreated)
		}
	}
	if c == nil {
		return "", ""
	}
	return c.Reason, shortened(c.Message, 0)
}
