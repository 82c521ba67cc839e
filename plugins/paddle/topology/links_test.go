// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bridged is four PCIe cards, two on each socket; a bridge joins the first with the third, and the second with the fourth.
const bridged = `
X   PIX NV4 SYS
PIX X   SYS NV4
NV4 SYS X   PHB
SYS NV4 PHB X
`

func TestLinks(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []int
	}{
		{"bridges, across sockets", bridged, []int{2, 2}},
		{"rows by semicolons", "X NV12 NV12;NV12 X NV12; NV12 NV12 X", []int{3}},
		{"ends of line of another system", "X SYS\r\nSYS X\r\n", []int{1, 1}},
		{"no NVLink: a socket is an island", "X PIX SYS; PIX X SYS; SYS SYS X", []int{2, 1}},
		{"each kind of PCIe on a socket", "X PIX PXB PHB NODE; PIX X PXB PHB NODE; PXB PXB X PHB NODE; PHB PHB PHB X NODE; NODE NODE NODE NODE X", []int{5}},
		{"a card without a bridge is alone", "X NV1 PIX; NV1 X PIX; PIX PIX X", []int{2, 1}},
		{"linked by way of another", "X NV1 SYS; NV1 X NV2; SYS NV2 X", []int{3}},
		{"islands in the order of their first GPU", "X SYS SYS; SYS X NV1; SYS NV1 X", []int{1, 2}},
		{"one GPU", "X", []int{1}},
		{"the most NVLinks", "X NV99; NV99 X", []int{2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := parseLinks(test.text)
			require.NoError(t, err)
			require.Equal(t, test.want, m.islands())
		})
	}
}

func TestTheMostGPUsThatAreRead(t *testing.T) {
	rows := make([]string, 64)
	for i := range rows {
		words := slices.Repeat([]string{"SYS"}, 64)
		words[i] = "X"
		rows[i] = strings.Join(words, " ")
	}
	m, err := parseLinks(strings.Join(rows, ";"))
	require.NoError(t, err)
	require.Len(t, m.islands(), 64)
}

func TestLinksThatAreWrong(t *testing.T) {
	wide := strings.TrimSuffix(strings.Repeat(strings.TrimSpace(strings.Repeat("SYS ", 65))+";", 65), ";")
	for text, want := range map[string]string{
		"":                    "no rows",
		" \n\t ":              "no rows",
		wide:                  "65 rows, want 64 at most",
		"X NV1; NV1":          "row 2 has 1 words, want one for each of the 2 GPUs",
		"X NV1; NV1 X;":       "row 1 has 2 words, want one for each of the 3 GPUs",
		"X NV1;; NV1 X":       "row 1 has 2 words, want one for each of the 3 GPUs",
		"X nv1; nv1 X":        `row 1, word 2: "nv1" is none of X, NV1 to NV99, PIX, PXB, PHB, NODE, SYS`,
		"X NV; NV X":          `row 1, word 2: "NV" is none of X`,
		"X NV0; NV0 X":        `row 1, word 2: "NV0" is none of X`,
		"X NV01; NV01 X":      `row 1, word 2: "NV01" is none of X`,
		"X NV+1; NV+1 X":      `row 1, word 2: "NV+1" is none of X`,
		"X NV100; NV100 X":    `row 1, word 2: "NV100" is none of X`,
		"X GPU1; NV1 X":       `row 1, word 2: "GPU1" is none of X`,
		"X X; X X":            "row 1, word 2 is X: X belongs where a GPU meets itself",
		"NV1 NV1; NV1 NV1":    "row 1, word 1 is NV1: X belongs where a GPU meets itself",
		"X NV1; SYS X":        "row 2, word 1 is SYS, and not so in row 1",
		"X " + longWord + ";": `"VVVVVVVVVVVVVVVVVVVV" is none of X`,
	} {
		_, err := parseLinks(text)
		require.ErrorContains(t, err, want, "%.40q", text)
	}
}

var longWord = strings.Repeat("V", 1000)

func FuzzLinks(f *testing.F) {
	for _, text := range []string{bridged, "X NV1;NV1 X", "X SYS\r\nSYS X\r\n", "X PIX PHB;PIX X NODE;PHB NODE X", "X", ";", "X X", longWord} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseLinks(text)
		if err != nil {
			require.Less(t, len(err.Error()), 400, "an error must fit a warning")
			return
		}
		require.LessOrEqual(t, len(m), maxIslands)
		sizes := m.islands()
		require.Equal(t, len(m), sum(sizes), "each GPU is in one island")
		for i := range m {
			require.Len(t, m[i], len(m))
			for j := range m[i] {
				require.Equal(t, m[j][i], m[i][j])
				require.Equal(t, i == j, m[i][j] == itself)
			}
		}
		again, err := linkedIslands(text, len(m))
		require.NoError(t, err)
		require.Equal(t, sizes, again)
		_, err = linkedIslands(text, len(m)+1)
		require.Error(t, err)
	})
}
