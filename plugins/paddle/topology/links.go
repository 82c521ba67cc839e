// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// linksAnnotation is the annotation of a node with the links between its GPUs; parseLinks has the format.
const linksAnnotation = "topology.paddlepaddle.org/gpu-links"

// links is how each GPU of a node is linked to each other one, as in the matrix of nvidia-smi topo -m.
type links [][]link

// link is how two GPUs of a node are linked, from the farthest.
type link int8

const (
	acrossSockets link = iota // SYS
	inNUMANode                // NODE, PHB, PXB and PIX: over PCIe, on one socket
	overNVLink                // NV1, NV2 and so on
	itself                    // X
)

// maxLinks is how many NVLinks a pair of GPUs may have.
const maxLinks = 99

// parseLinks reads the annotation: a row for each GPU, rows parted by ";" or ends of line, with a word for each GPU
// parted by blanks: X for itself, NV and a number for NVLinks, PIX, PXB, PHB or NODE for PCIe on one socket, SYS for
// PCIe across sockets. Case matters, and both halves must agree.
func parseLinks(text string) (links, error) {
	text = strings.Trim(text, " \t\r\n")
	if text == "" {
		return nil, errors.New("no rows")
	}
	rows := strings.Split(strings.ReplaceAll(text, "\n", ";"), ";")
	if len(rows) > maxIslands {
		return nil, fmt.Errorf("%d rows, want %d at most", len(rows), maxIslands)
	}
	m, texts := make(links, len(rows)), make([][]string, len(rows))
	for i, row := range rows {
		words := strings.Fields(row)
		if len(words) != len(rows) {
			return nil, fmt.Errorf("row %d has %d words, want one for each of the %d GPUs", i+1, len(words), len(rows))
		}
		m[i], texts[i] = make([]link, len(words)), words
		for j, word := range words {
			kind, err := parseLink(word)
			if err != nil {
				return nil, fmt.Errorf("row %d, word %d: %w", i+1, j+1, err)
			}
			if (kind == itself) != (i == j) {
				return nil, fmt.Errorf("row %d, word %d is %s: X belongs where a GPU meets itself", i+1, j+1, word)
			}
			if j < i && texts[j][i] != word {
				return nil, fmt.Errorf("row %d, word %d is %s, and not so in row %d", i+1, j+1, word, j+1)
			}
			m[i][j] = kind
		}
	}
	return m, nil
}

func parseLink(word string) (link, error) {
	switch word {
	case "X":
		return itself, nil
	case "PIX", "PXB", "PHB", "NODE":
		return inNUMANode, nil
	case "SYS":
		return acrossSockets, nil
	}
	if digits, ok := strings.CutPrefix(word, "NV"); ok {
		if count, err := strconv.Atoi(digits); err == nil && 0 < count && count <= maxLinks && digits == strconv.Itoa(count) {
			return overNVLink, nil
		}
	}
	return 0, fmt.Errorf("%.20q is none of X, NV1 to NV%d, PIX, PXB, PHB, NODE, SYS", word, maxLinks)
}

// islands are the sizes of the sets of GPUs that NVLinks join; where there is no NVLink at all, of those on one socket.
// They are in the order of their first GPUs.
func (m links) islands() []int {
	least := inNUMANode
	for _, row := range m {
		for _, kind := range row {
			if kind == overNVLink {
				least = overNVLink
			}
		}
	}
	var sizes []int
	seen := make([]bool, len(m))
	for first := range m {
		if seen[first] {
			continue
		}
		seen[first] = true
		island := []int{first}
		for next := 0; next < len(island); next++ {
			for other, kind := range m[island[next]] {
				if kind >= least && !seen[other] {
					seen[other] = true
					island = append(island, other)
				}
			}
		}
		sizes = append(sizes, len(island))
	}
	return sizes
}
