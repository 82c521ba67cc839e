// SPDX-License-Identifier: Apache-2.0

package network

import resourceapi "k8s.io/api/resource/v1"

// sliceSet is the devices that DRA drivers publish.
type sliceSet struct {
	objects map[*resourceapi.ResourceSlice]struct{}
}

func readSlices(published []*resourceapi.ResourceSlice) sliceSet {
	s := sliceSet{objects: make(map[*resourceapi.ResourceSlice]struct{}, len(published))}
	for _, slice := range published {
		s.objects[slice] = struct{}{}
	}
	return s
}

// same tells whether these are the slices that were read.
func (s *sliceSet) same(published []*resourceapi.ResourceSlice) bool {
	if len(published) != len(s.objects) {
		return false
	}
	for _, slice := range published {
		if _, ok := s.objects[slice]; !ok {
			return false
		}
	}
	return true
}

func (s *sliceSet) islands(string, int) []int { return nil }
