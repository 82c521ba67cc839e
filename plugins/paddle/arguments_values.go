// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// What YAML gives for a value: text, whole numbers (int, int64, uint64), float64, bool, nil and lists of these. Numbers
// may also be written as text: every argument of Volcano once had to be.

// shown is a value as an error names it: text in quotes, so that an empty or odd one can be seen.
func shown(value any) string {
	switch value := value.(type) {
	case nil:
		return "an empty value"
	case string:
		return strconv.Quote(value)
	default:
		return fmt.Sprint(value)
	}
}

// texts reads a list of texts, or one text with commas between them.
func texts(value any) ([]string, error) {
	if text, ok := value.(string); ok {
		value = splitList(text)
	}
	list, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("%s is not a list of texts", shown(value))
	}
	found := make([]string, 0, len(list))
	for _, entry := range list {
		text, ok := entry.(string)
		switch {
		case !ok:
			return nil, fmt.Errorf("%s in the list is not a text", shown(entry))
		case text == "":
			return nil, errors.New("the list holds an empty text")
		case strings.Contains(text, ","):
			return nil, fmt.Errorf("%q in the list holds a comma", text)
		}
		found = append(found, text)
	}
	return found, nil
}

func splitList(text string) []any {
	var list []any
	for part := range strings.SplitSeq(text, ",") {
		list = append(list, strings.TrimSpace(part))
	}
	return list
}

// listOf reads a list of up to most entries, or one text with commas between them, or a single entry.
func listOf[T any](value any, most int, read func(any) (T, error)) ([]T, error) {
	list, ok := value.([]any)
	if text, isText := value.(string); isText {
		list = splitList(text)
	} else if !ok {
		list = []any{value}
	}
	if len(list) > most {
		return nil, fmt.Errorf("the list has %d entries, more than %d", len(list), most)
	}
	found := make([]T, 0, len(list))
	for i, entry := range list {
		one, err := read(entry)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		found = append(found, one)
	}
	return found, nil
}

// number reads a finite number.
func number(value any) (float64, bool) {
	var found float64
	switch value := value.(type) {
	case int:
		found = float64(value)
	case int64:
		found = float64(value)
	case uint64:
		found = float64(value)
	case float64:
		found = value
	case string:
		parsed, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			return 0, false
		}
		found = parsed
	default:
		return 0, false
	}
	return found, !math.IsNaN(found) && !math.IsInf(found, 0)
}

func numberIn(value any, low, high float64) (float64, error) {
	found, ok := number(value)
	if !ok || found < low || found > high {
		return 0, fmt.Errorf("%s is not a number from %v to %v", shown(value), low, high)
	}
	return found, nil
}

func wholeIn(value any, low, high int) (int, error) {
	found, ok := number(value)
	if !ok || found != math.Trunc(found) || found < float64(low) || found > float64(high) {
		return 0, fmt.Errorf("%s is not a whole number from %d to %d", shown(value), low, high)
	}
	return int(found), nil
}

// parameterBytes reads a quantity of bytes: 2Gi, 500M, 1e9. 0 means that nothing is said.
func parameterBytes(value any) (float64, error) {
	if bytes, ok := number(value); ok {
		value = strconv.FormatFloat(bytes, 'f', -1, 64)
	}
	text, ok := value.(string)
	if !ok {
		return 0, fmt.Errorf("%s is not a quantity of bytes such as 2Gi", shown(value))
	}
	quantity, err := resource.ParseQuantity(strings.TrimSpace(text))
	if err != nil {
		return 0, fmt.Errorf("%q is not a quantity of bytes such as 2Gi", text)
	}
	bytes := quantity.AsApproximateFloat64()
	if bytes < 0 || bytes > 0 && bytes < 1 || bytes > maxParameterBytes {
		return 0, fmt.Errorf("%s bytes are not from 1 to 1Pi, and not 0", text)
	}
	return bytes, nil
}
