// SPDX-License-Identifier: Apache-2.0

package svg

import (
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADrawingIsXMLAndNeedsNothingElse(t *testing.T) {
	d := &Drawing{Width: 100}
	d.Rect("one", 0, 0, 10, 10)
	d.Line("line", 0, 0, 10, 10)
	d.Dot("dot", 5, 5, 2)
	d.Text("soft end", 10, 20, "%d < %d & more", 1, 2)
	d.Height = 40
	text := d.Document(`"a" < b`)
	elements := map[string]int{}
	for reader := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := reader.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok {
			elements[start.Name.Local]++
		}
	}
	require.Equal(t, map[string]int{"svg": 1, "title": 1, "style": 1, "rect": 2, "line": 1, "circle": 1, "text": 1}, elements)
	require.Contains(t, text, `viewBox="0 0 100 40"`)
	require.NotRegexp(t, `(href|src|url\()`, text)
}

// Whatever has a colour has another one in the dark.
func TestEveryColourHasADarkOne(t *testing.T) {
	light, dark, found := strings.Cut(style, "@media (prefers-color-scheme:dark)")
	require.True(t, found)
	coloured := regexp.MustCompile(`([.a-z]+)\{[^}]*#`)
	names := func(text string) (all []string) {
		for _, match := range coloured.FindAllStringSubmatch(text, -1) {
			all = append(all, match[1])
		}
		return all
	}
	require.NotEmpty(t, names(light))
	require.Equal(t, names(light), names(dark))
}
