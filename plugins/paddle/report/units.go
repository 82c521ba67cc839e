// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

// Unit is the unit in which amounts of a resource are written. Amounts are Volcano's: memory in bytes, everything else in
// thousandths.
type Unit struct {
	// One and Many are the noun after 1 and after other numbers.
	One, Many string
	size      float64
	parts     float64 // the most parts into which one unit is divided when a number is rounded
}

// UnitFor returns the unit for a resource by the largest amount of it that is to be written.
func UnitFor(name corev1.ResourceName, largest float64) Unit {
	bytes := func(size float64, of string) Unit {
		if largest < gib*size {
			return Unit{"MiB" + of, "MiB" + of, mib * size, 10}
		}
		return Unit{"GiB" + of, "GiB" + of, gib * size, 10}
	}
	switch {
	case name == corev1.ResourceCPU && largest < 10*1000:
		return Unit{"CPU", "CPUs", 1000, 1000}
	case name == corev1.ResourceCPU:
		return Unit{"CPU", "CPUs", 1000, 10}
	case name == corev1.ResourceMemory:
		return bytes(1, " of memory")
	case name == corev1.ResourceEphemeralStorage:
		return bytes(1000, " of disk")
	case strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
		return bytes(1000, " of "+string(name))
	}
	text := string(name)
	if word := strings.ToUpper(text[strings.LastIndex(text, "/")+1:]); slices.Contains([]string{"GPU", "NPU", "XPU", "TPU"}, word) {
		return Unit{word, word + "s", 1000, 1}
	}
	return Unit{text, text, 1000, 1}
}

// Number returns an amount in the unit. Requested amounts are rounded up, available ones down. Negative amounts are 0.
func (u Unit) Number(amount float64, up bool) string {
	const exact = 1e-3 // sums of decimal fractions are a little off
	parts := math.Floor((amount + exact) / u.size * u.parts)
	if up {
		parts = math.Ceil((amount - exact) / u.size * u.parts)
	}
	return strconv.FormatFloat(max(0, parts/u.parts), 'f', -1, 64)
}

// Format returns a number with its unit: "8 GPUs".
func (u Unit) Format(number string) string {
	if number == "1" {
		return number + " " + u.One
	}
	return number + " " + u.Many
}

// Measured reports whether a resource is measured in a unit of its own and not counted in pieces.
func Measured(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage ||
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// FormatResources returns requested amounts, the scarcest resource first: "8 GPUs, 16 CPUs and 64 GiB of memory".
func FormatResources(amounts map[corev1.ResourceName]float64) string {
	var names []corev1.ResourceName
	for name := range amounts {
		names = append(names, name)
	}
	var parts []string
	for _, name := range SortResources(names) {
		unit := UnitFor(name, amounts[name])
		parts = append(parts, unit.Format(unit.Number(amounts[name], true)))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return List(parts)
}

// SortResources sorts resources by scarcity: devices by name, CPU, memory, storage. Pods are left out.
func SortResources(names []corev1.ResourceName) []corev1.ResourceName {
	common := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	names = slices.DeleteFunc(names, func(name corev1.ResourceName) bool { return name == corev1.ResourcePods })
	slices.SortFunc(names, func(a, b corev1.ResourceName) int {
		return cmp.Or(cmp.Compare(slices.Index(common, a), slices.Index(common, b)), cmp.Compare(a, b))
	})
	return names
}

// Quantity returns an amount as a quantity of Kubernetes.
func Quantity(name corev1.ResourceName, amount float64) string {
	switch {
	case name == corev1.ResourceMemory:
		return resource.NewQuantity(int64(amount), resource.BinarySI).String()
	case !Measured(name): // whole pieces, also where overcommit counts fractions of them
		return resource.NewQuantity(int64(amount/1000), resource.DecimalSI).String()
	}
	return resource.NewMilliQuantity(int64(amount), resource.DecimalSI).String()
}
