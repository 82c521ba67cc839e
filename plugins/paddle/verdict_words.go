// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

// measure is how amounts of a resource are told. Amounts are Volcano's: CPU and scalars in thousandths, memory in bytes.
type measure struct {
	size      float64
	parts     float64 // into which one is divided at most, when a number is rounded
	one, many string
}

// measureOf a resource, by the largest amount of it that is to be told.
func measureOf(resource corev1.ResourceName, largest float64) measure {
	bytes := func(size float64, of string) measure {
		if largest < gib*size {
			return measure{mib * size, 10, "MiB" + of, "MiB" + of}
		}
		return measure{gib * size, 10, "GiB" + of, "GiB" + of}
	}
	switch {
	case resource == corev1.ResourceCPU && largest < 10*1000:
		return measure{1000, 1000, "CPU", "CPUs"}
	case resource == corev1.ResourceCPU:
		return measure{1000, 10, "CPU", "CPUs"}
	case resource == corev1.ResourceMemory:
		return bytes(1, " of memory")
	case resource == corev1.ResourceEphemeralStorage:
		return bytes(1000, " of disk")
	case strings.HasPrefix(string(resource), corev1.ResourceHugePagesPrefix):
		return bytes(1000, " of "+string(resource))
	}
	name := string(resource)
	if word := strings.ToUpper(name[strings.LastIndex(name, "/")+1:]); slices.Contains([]string{"GPU", "NPU", "XPU", "TPU"}, word) {
		return measure{1000, 1, word, word + "s"}
	}
	return measure{1000, 1, name, name}
}

// number of an amount in the measure's unit: what is asked for is rounded up, what there is down. Below 0 is 0.
func (m measure) number(amount float64, up bool) string {
	const exact = 1e-3 // sums of decimal fractions are a little off
	parts := math.Floor((amount + exact) / m.size * m.parts)
	if up {
		parts = math.Ceil((amount - exact) / m.size * m.parts)
	}
	return strconv.FormatFloat(max(0, parts/m.parts), 'f', -1, 64)
}

// of is a number with its unit.
func (m measure) of(number string) string {
	if number == "1" {
		return number + " " + m.one
	}
	return number + " " + m.many
}

// amountWords are an amount that is asked for: "8 GPUs".
func amountWords(resource corev1.ResourceName, amount float64) string {
	m := measureOf(resource, amount)
	return m.of(m.number(amount, true))
}

// resourceWords are all that is asked for, what is scarcest first: "8 GPUs, 16 CPUs and 64 GiB of memory".
func resourceWords(asked *api.Resource) string {
	var parts []string
	for _, name := range resourceOrder(asked) {
		parts = append(parts, amountWords(name, asked.Get(name)))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return inWords(parts)
}

// resourceOrder is the resources that are asked for: devices by name, CPU, memory, storage.
func resourceOrder(asked *api.Resource) []corev1.ResourceName {
	common := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	names := slices.DeleteFunc(asked.ResourceNames(), func(name corev1.ResourceName) bool { return name == corev1.ResourcePods })
	slices.SortFunc(names, func(a, b corev1.ResourceName) int {
		return cmp.Or(cmp.Compare(slices.Index(common, a), slices.Index(common, b)), cmp.Compare(a, b))
	})
	return names
}

// gangWords are the pods without which a gang does not start: "2 servers and 8 workers"; "10 pods" where roles are not
// known yet.
func gangWords(job *api.JobInfo, g paddlejob.Gang) string {
	var names []string
	minimum := map[string]int32{}
	for _, group := range g {
		name := roleNames[group.Role]
		if minimum[name] == 0 && group.Min > 0 {
			names = append(names, name)
		}
		minimum[name] += group.Min
	}
	var parts []string
	for _, name := range names {
		t := tally{name: name, min: minimum[name]}
		parts = append(parts, fmt.Sprintf("%d %s", t.min, t.plural()))
	}
	if len(parts) == 0 {
		t := tally{name: "pod", min: max(1, job.MinAvailable)}
		parts = append(parts, fmt.Sprintf("%d %s", t.min, t.plural()))
	}
	return inWords(parts)
}

// inWords is a list such as "a, b and c".
func inWords(parts []string) string {
	last := len(parts) - 1
	if last < 1 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// shortened is text of at most so many bytes: whole lines as far as they fit, else whole characters.
func shortened(text string, most int) string {
	const more = "..."
	if len(text) <= most {
		return text
	}
	kept := strings.ToValidUTF8(text[:most-len(more)], "")
	if line := strings.LastIndexByte(kept, '\n'); line > 0 {
		kept = kept[:line+1]
	}
	return kept + more
}
