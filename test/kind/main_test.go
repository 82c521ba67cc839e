// SPDX-License-Identifier: Apache-2.0

package kind_test

import (
	"os"
	"path/filepath"
	"testing"
)

// Called by the name of docker this program is the docker of a machine under test.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "docker" {
		os.Exit(asDocker(os.Getenv(folderVariable), os.Args[1:]))
	}
	os.Exit(m.Run())
}
