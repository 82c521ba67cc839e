// SPDX-License-Identifier: Apache-2.0

package story

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/util/duration"
)

// sentence begins with a capital, unless its first word is a name or a command, and ends with a full stop.
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

// shortened is the beginning of a text that is too long, by whole characters.
func shortened(text string, most int) string {
	text, _, _ = strings.Cut(text, "\n")
	if runes := []rune(text); most > 0 && len(runes) > most {
		return strings.TrimRight(string(runes[:most-1]), " ,;:") + "…"
	}
	return text
}

// some lists a few names of many.
func some(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:few], ", ") + " and " + number(len(names)-few, "other")
}

// number is an amount with its noun: "1 pod", "2 pods".
func number(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

func shortDuration(d time.Duration) string { return duration.HumanDuration(max(d, 0)) }
