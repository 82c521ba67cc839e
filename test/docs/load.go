// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Load reads all pages of the repository in the order of their names. Folders that begin with a dot or an underscore are
// left out.
func Load(root fs.FS) (pages []*Page, err error) {
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if entry.IsDir() {
			if strings.ContainsAny(entry.Name()[:1], "._") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".md" {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		pages = append(pages, Parse(name, string(text)))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the documents: %w", err)
	}
	return pages, nil
}
