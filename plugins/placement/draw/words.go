// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// count is a number of things: "1 rack", "2 racks", "1,234 nodes".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return thousands(n) + " " + plural(thing)
}

func plural(thing string) string {
	for _, end := range []string{"s", "x", "z", "ch", "sh"} {
		if strings.HasSuffix(thing, end) {
			return thing + "es"
		}
	}
	return thing + "s"
}

// thousands writes a number from 0 with commas.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// amount of traffic: in bytes where the size of the model is known, else as a multiple of it.
func (s *scene) amount(bytes float64) string {
	if s.d.ParameterBytes > 0 {
		return inUnits(bytes, []string{" B", " kB", " MB", " GB", " TB", " PB", " EB"})
	}
	if bytes >= 999.5 && bytes < 1e9 {
		return thousands(int(math.Round(bytes))) + " × M"
	}
	return threeDigits(bytes) + " × M"
}

// inUnits writes an amount with three digits, in the largest of the units (each a thousand of the one before) that it
// fills.
func inUnits(amount float64, units []string) string {
	unit := 0
	for amount >= 999.5 && unit < len(units)-1 {
		amount /= 1000
		unit++
	}
	return threeDigits(amount) + units[unit]
}

func threeDigits(x float64) string {
	switch {
	case x >= 1e6:
		return strconv.FormatFloat(x, 'g', 3, 64)
	case x >= 99.95:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 9.995:
		return trimZeros(strconv.FormatFloat(x, 'f', 1, 64))
	case x >= 0.01 || x == 0:
		return trimZeros(strconv.FormatFloat(x, 'f', 2, 64))
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

func trimZeros(number string) string { return strings.TrimSuffix(strings.TrimRight(number, "0"), ".") }

// seconds that a load takes; "" where neither the model's size nor the bandwidth is known, as it means nothing then.
func (s *scene) seconds(x, bandwidth float64) string {
	switch {
	case s.d.ParameterBytes == 0 || bandwidth <= 1:
		return ""
	case x < 1:
		return inUnits(x*1e6, []string{" µs", " ms"})
	}
	return threeDigits(x) + " s"
}

func (s *scene) podTitle(p pod, node string) string {
	text := fmt.Sprintf("%s %d on %s", s.d.Roles[p.role].Name, p.index, node)
	if p.gpus > 0 {
		text += ": " + count(p.gpus, "GPU")
	}
	if p.fixed {
		text += " (running already)"
	}
	return text
}
