// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// losses are what the trainers' logs tell, by the pods' names.
type losses map[string]*told

// told is one trainer's.
type told struct {
	role  string
	steps []int
	loss  []float64
	// trained is set once it has said that it is done.
	trained bool
}

var (
	stepLine    = regexp.MustCompile(`^step (\d+) loss ([\d.]+)$`)
	trainedLine = regexp.MustCompile(`^trained: loss [\d.]+ -> [\d.]+, model sha256 [0-9a-f]+$`)
)

// hear takes in one line of a log.
func (l losses) hear(pod, role, text string) {
	step := stepLine.FindStringSubmatch(text)
	if step == nil && !trainedLine.MatchString(text) {
		return
	}
	if l[pod] == nil {
		l[pod] = &told{role: role}
	}
	if step == nil {
		l[pod].trained = true
		return
	}
	number, err := strconv.Atoi(step[1])
	if err != nil {
		return // so large that nobody gets there
	}
	loss, err := strconv.ParseFloat(step[2], 64)
	if err != nil {
		return
	}
	l[pod].steps, l[pod].loss = append(l[pod].steps, number), append(l[pod].loss, loss)
}

// faults says in what the logs differ from those of a gang whose workers have all trained until the loss fell.
func (l losses) faults(role Role) (faults []string) {
	tellers := 0
	for _, pod := range slices.Sorted(maps.Keys(l)) {
		t := l[pod]
		if t.role == role.Name {
			tellers++
		}
		switch last := len(t.loss) - 1; {
		case last < 1:
			faults = append(faults, fmt.Sprintf("the log of %s tells of %d steps, not of several", pod, len(t.loss)))
		case t.loss[last] >= t.loss[0]:
			faults = append(faults, fmt.Sprintf("the loss of %s has not fallen: %.4f -> %.4f", pod, t.loss[0], t.loss[last]))
		case !t.trained:
			faults = append(faults, fmt.Sprintf("the log of %s does not say that it is trained", pod))
		}
	}
	if tellers != role.Pods {
		faults = append(faults, fmt.Sprintf("the logs of %d pods of role %s tell of training, not of %d", tellers, role.Name, role.Pods))
	}
	return faults
}

// summary has one line for each trainer.
func (l losses) summary() string {
	var lines []string
	for _, pod := range slices.Sorted(maps.Keys(l)) {
		t := l[pod]
		if len(t.loss) == 0 {
			continue
		}
		words := make([]string, len(t.loss))
		for i, loss := range t.loss {
			words[i] = fmt.Sprintf("%.4f", loss)
		}
		lines = append(lines, fmt.Sprintf("%s, steps %d to %d: loss %s", pod, t.steps[0], t.steps[len(t.steps)-1], strings.Join(words, " -> ")))
	}
	return strings.Join(lines, "\n")
}
