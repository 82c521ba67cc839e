// SPDX-License-Identifier: Apache-2.0

package live

// Cases are what these settings ask for. Where the sandbox is not the cluster they are measured by somebody else (test/kind).
func (s Settings) Cases() ([]Case, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.cases()
}

// Tell sums up cases with the turns that somebody else took, and writes live.json.
func Tell(s Settings, cases []Case) error {
	r := newReport(s)
	for _, c := range cases {
		r.add(c)
	}
	return r.write()
}
