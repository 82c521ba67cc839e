// SPDX-License-Identifier: Apache-2.0

package cluster_test

// source lets bytes decide. When they are used up, the first choice is taken each time, which is always the plain one.
type source struct{ bytes []byte }

func (s *source) pick(n int) int {
	if len(s.bytes) == 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return int(b) % n
}

// seldom is true in one of n cases.
func (s *source) seldom(n int) bool { return s.pick(n) == n-1 }

func one[T any](s *source, of ...T) T { return of[s.pick(len(of))] }

// maybe is a pointer to one of some values, or nil.
func maybe[T any](s *source, of ...T) *T {
	at := s.pick(len(of) + 1)
	if at == 0 {
		return nil
	}
	return &of[at-1]
}

// some are up to most of what is drawn.
func some[T any](s *source, most int, draw func() T) (all []T) {
	for range s.pick(most + 1) {
		all = append(all, draw())
	}
	return all
}
