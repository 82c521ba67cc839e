// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/docs"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

func TestManifestsAreWhatTheirJudgesTake(t *testing.T) {
	live.SkipUnlessAll(t)
	all := &docs.Page{Path: "manifests.md"}
	s := shell(t, all, "KUBECONFIG="+kubeconfig(t, cluster.Namespace(t)))
	judged := 0
	for _, page := range english(t) {
		for _, block := range page.Blocks {
			if block.Language != "yaml" || block.Excused() {
				continue
			}
			text, by, err := block.Manifest()
			require.NoError(t, err, page.Path)
			judged++
			if by == docs.BySandbox {
				_, err := sandbox.ParseTopology([]byte(text))
				require.NoError(t, err, "%s, line %d", page.Path, block.Line)
				continue
			}
			file := fmt.Sprintf("%d.yaml", judged)
			require.NoError(t, os.WriteFile(filepath.Join(s.Dir, file), []byte(text), 0o600))
			if err := s.Do(t.Context(), docs.Step{Line: block.Line, Command: string(by) + " " + file}); err != nil {
				t.Errorf("%s, %s", page.Path, err)
			}
		}
	}
	require.Positive(t, judged)
}
