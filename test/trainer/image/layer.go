// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"path"
	"strings"
)

// layer is the image's file system: the trainer, links to it under all names that it answers to, and a few folders.
func layer(binary []byte) ([]byte, error) {
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	made := map[string]bool{}
	var folder func(name string, mode int64) error
	folder = func(name string, mode int64) error {
		if name == "." || made[name] {
			return nil
		}
		made[name] = true
		if err := folder(path.Dir(name), 0o755); err != nil {
			return err
		}
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode})
	}
	file := func(header tar.Header, content []byte) error {
		if err := folder(path.Dir(header.Name), 0o755); err != nil {
			return err
		}
		header.Size = int64(len(content))
		if err := w.WriteHeader(&header); err != nil {
			return err
		}
		_, err := w.Write(content)
		return err
	}
	for _, name := range folders() {
		// Whoever the container runs as may write there.
		if err := folder(name, 0o1777); err != nil {
			return nil, err
		}
	}
	if err := file(tar.Header{Typeflag: tar.TypeReg, Name: "etc/passwd", Mode: 0o644}, []byte("root:x:0:0:root:/:/bin/sh\n")); err != nil {
		return nil, err
	}
	if err := file(tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(Binary, "/"), Mode: 0o755}, binary); err != nil {
		return nil, err
	}
	for _, name := range links() {
		if err := file(tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: Binary, Mode: 0o777}, nil); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return buffer.Bytes(), err
}
