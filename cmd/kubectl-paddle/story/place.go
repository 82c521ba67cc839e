// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// place tells where the gang is, in the plugin's words.
func (s *Story) place(o *Objects) {
	c := o.placement()
	if c == nil || c.Status != corev1.ConditionTrue {
		return
	}
	lines := strings.Split(c.Message, "\n")
	var details []string
	traffic, link := "", ""
	for _, line := range lines[1:] {
		switch {
		case strings.HasPrefix(line, sends):
			traffic = line
		case strings.HasPrefix(line, busiest):
			link = line
		case !strings.HasPrefix(line, waiting):
			details = append(details, line)
		}
	}
	s.say(AboutPlace, lines[0], details...)
	s.say(AboutPlace, traffic)
	s.say(AboutPlace, link)
}

// sends begins the plugin's line about what crosses the network, busiest the one about what takes longest.
const (
	sends   = "a step of training sends "
	busiest = "the busiest link takes "
)

// waiting begins the plugin's line about pods beyond the minimum.
const waiting = "waiting: "

// leftWaiting tells of pods beyond the minimum that have no room.
func (s *Story) leftWaiting(o *Objects) {
	if c := o.placement(); c != nil && c.Status == corev1.ConditionTrue {
		if _, text, ok := strings.Cut(c.Message, "\n"+waiting); ok {
			s.say(AboutPods, text)
		}
	}
}

// domains are how many domains of a tier the gang is spread over: the plugin's " in 2 racks".
var domains = regexp.MustCompile(` in (\d+) (domains of tier (\d+)|[\w-]+)`)

// spread tells that a gang is further apart than it wished to be, or that its steps have to cross slower links.
func (s *Story) spread(o *Objects) {
	c := o.placement()
	if c == nil || c.Status != corev1.ConditionTrue {
		return
	}
	first, rest, _ := strings.Cut(c.Message, "\n")
	for _, m := range domains.FindAllStringSubmatch(first, -1) {
		if wish := wishFor(o.Job, m[2], m[3]); wish != "" {
			s.say(AboutPlace, fmt.Sprintf("it is slower than it could be: %s could not be met, and its pods are in %s %s", wish, m[1], m[2]))
			continue
		}
		if traffic, ok := crossing(rest, m[2]); ok {
			s.say(AboutPlace, fmt.Sprintf("its place is not the fastest: its pods are in %s %s, and each step of training sends %s between them", m[1], m[2], traffic))
		}
	}
}

// wishFor is the job's wish to be within one domain of a tier, empty if it has none.
func wishFor(job *v1.PaddleJob, many, number string) string {
	policy := job.Spec.SchedulingPolicy
	if policy == nil || policy.NetworkTopology == nil || policy.NetworkTopology.Mode != v1.TopologySoft {
		return ""
	}
	t := policy.NetworkTopology
	switch {
	case t.HighestTierName != "" && many == t.HighestTierName+"s":
		return "the wish to be in one " + t.HighestTierName + " (networkTopology soft)"
	case t.HighestTierAllowed != nil && number == strconv.Itoa(*t.HighestTierAllowed):
		return "the wish to be in one domain of tier " + number + " (networkTopology soft)"
	}
	return ""
}

// crossing is what a step sends between domains of a tier, from the plugin's line about traffic.
func crossing(text, many string) (string, bool) {
	line, _, _ := strings.Cut(text, "\n")
	line = strings.TrimPrefix(line, sends)
	for _, part := range strings.FieldsFunc(strings.ReplaceAll(line, " and ", ","), func(r rune) bool { return r == ',' }) {
		if amount, ok := strings.CutSuffix(strings.TrimSpace(part), " between "+many); ok {
			return amount, true
		}
	}
	return "", false
}
