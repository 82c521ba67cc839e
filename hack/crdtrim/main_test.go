// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDescriptionsStayOutsideTemplatesOnly(t *testing.T) {
	const crd = `
properties:
  replicas: {type: integer, description: how many}
  template:
    description: the pod
    properties:
      description: {type: string, description: a field of this name}
      containers: {items: [{description: one}]}
`
	var out strings.Builder
	require.NoError(t, run(strings.NewReader(crd), &out))
	require.YAMLEq(t, `
properties:
  replicas: {type: integer, description: how many}
  template:
    properties:
      description: {type: string}
      containers: {items: [{}]}
`, out.String())
}

func TestWhatIsNotYAMLIsAnError(t *testing.T) {
	require.ErrorContains(t, run(strings.NewReader("\t{"), &strings.Builder{}), "parsing the CRD")
}
