// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"bytes"
	"encoding/xml"
	"unicode"
)

// Fonts differ between viewers, so places for text are a little wider than the widest usual one (DejaVu Sans) needs.

// textWidth is an upper estimate of the width of a text, in pixels.
func textWidth(text string, size int) int {
	sum := 0
	for _, r := range text {
		sum += runeWidth(r)
	}
	return (sum*size + 999) / 1000
}

// runeWidth is in thousandths of the font size.
func runeWidth(r rune) int {
	switch {
	case r >= 0x1100:
		return 1000
	case r == 'm' || r == 'w' || r == 'M' || r == 'W' || r == '@' || r == '%':
		return 980
	case r == 'i' || r == 'l' || r == 'j' || r == '.' || r == ',' || r == ':' || r == '|' || r == '\'' || r == ' ':
		return 340
	case r == 'f' || r == 't' || r == 'r' || r == '-' || r == '(' || r == ')' || r == '/':
		return 420
	case unicode.IsUpper(r):
		return 720
	}
	return 630
}

// shorten a text to a width; what is left out is in its middle, as ends of names differ most.
func shorten(text string, size, width int) string {
	if textWidth(text, size) <= width {
		return text
	}
	runes := []rune(text)
	for keep := len(runes) - 1; keep > 1; keep-- {
		head := keep / 2
		short := string(runes[:head]) + "…" + string(runes[len(runes)-(keep-head):])
		if textWidth(short, size) <= width {
			return short
		}
	}
	return "…"
}

// escape makes any text safe as XML text and in an attribute.
func escape(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a Buffer takes everything
	return b.String()
}
