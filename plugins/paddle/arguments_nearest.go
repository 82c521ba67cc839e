// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"strings"
)

// nearest is the known word that was most likely meant, the first of equals, and false if none is close: case, hyphens
// and underscores do not count, and one letter in four may be missing, wrong, too many or in the wrong place.
func nearest(word string, known []string) (string, bool) {
	best, least := "", -1
	for _, candidate := range known {
		from, to := letters(word), letters(candidate)
		steps := distance(from, to)
		if steps <= len(to)/4 && (least < 0 || steps < least) {
			best, least = candidate, steps
		}
	}
	return best, least >= 0
}

func letters(word string) []rune {
	return []rune(strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(word)))
}

// distance is how many letters must be put in, taken out, replaced or swapped with the next one to make one word of the
// other.
func distance(from, to []rune) int {
	steps := make([][]int, len(from)+1) // between the first i letters of from and the first j of to
	for i := range steps {
		steps[i] = make([]int, len(to)+1)
		for j := range steps[i] {
			switch {
			case i == 0 || j == 0:
				steps[i][j] = i + j
			case from[i-1] == to[j-1]:
				steps[i][j] = steps[i-1][j-1]
			default:
				steps[i][j] = 1 + min(steps[i-1][j-1], steps[i-1][j], steps[i][j-1])
				if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
					steps[i][j] = min(steps[i][j], 1+steps[i-2][j-2])
				}
			}
		}
	}
	return steps[len(from)][len(to)]
}
