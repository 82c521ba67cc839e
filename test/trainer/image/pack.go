// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// Media types of the OCI image format.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar"
)

// Options are what an image may differ in.
type Options struct {
	// Names are the full names that the archive gives the image; Names() where it is nil.
	Names []string
	// Entrypoint is the trainer alone where it is nil.
	Entrypoint []string
	// User is the user and group by number, as UID:GID; root where it is empty.
	User string
	// Env are variables as NAME=value, behind PATH.
	Env []string
}

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Platform    *platform         `json:"platform,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type object = map[string]any

// Pack writes the archive of an image with a static binary.
func Pack(binary, path string, o Options) error {
	program, err := os.ReadFile(binary) //nolint:gosec // the caller's own file
	if err != nil {
		return fmt.Errorf("make an image: %w", err)
	}
	files, err := layer(program)
	if err != nil {
		return fmt.Errorf("make an image of %s: %w", binary, err)
	}
	file, err := os.Create(path) //nolint:gosec // the caller's own file
	if err != nil {
		return fmt.Errorf("make an image of %s: %w", binary, err)
	}
	if err := errors.Join(write(file, files, o), file.Close()); err != nil {
		return fmt.Errorf("make an image of %s: %w", binary, err)
	}
	return nil
}

func write(w io.Writer, files []byte, o Options) error {
	if o.Names == nil {
		o.Names = Names()
	}
	if o.Entrypoint == nil {
		o.Entrypoint = []string{Binary}
	}
	a := &archive{tar: tar.NewWriter(w)}
	content := a.blob(typeLayer, files)
	config := a.json(typeConfig, object{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": object{
			"Entrypoint": o.Entrypoint, "WorkingDir": "/workspace", "User": o.User,
			"Env": append([]string{"PATH=/usr/local/bin:/usr/bin:/bin"}, o.Env...),
		},
		"rootfs": object{"type": "layers", "diff_ids": []string{content.Digest}},
	})
	manifest := a.json(typeManifest, object{"schemaVersion": 2, "mediaType": typeManifest, "config": config, "layers": []descriptor{content}})
	manifest.Platform = &platform{Architecture: runtime.GOARCH, OS: "linux"}
	manifests := make([]descriptor, 0, len(o.Names))
	for _, name := range o.Names {
		named := manifest
		named.Annotations = map[string]string{"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name}
		manifests = append(manifests, named)
	}
	a.index(object{"schemaVersion": 2, "mediaType": typeIndex, "manifests": manifests})
	a.file("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
	return errors.Join(a.err, a.tar.Close())
}

// archive writes until the first error, and keeps that.
type archive struct {
	tar *tar.Writer
	err error
}

func (a *archive) file(name string, content []byte) {
	if a.err == nil {
		a.err = a.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content))})
	}
	if a.err == nil {
		_, a.err = a.tar.Write(content)
	}
}

func (a *archive) blob(mediaType string, content []byte) descriptor {
	sum := sha256.Sum256(content)
	name := hex.EncodeToString(sum[:])
	a.file("blobs/sha256/"+name, content)
	return descriptor{MediaType: mediaType, Digest: "sha256:" + name, Size: int64(len(content))}
}

func (a *archive) json(mediaType string, value object) descriptor {
	text, err := json.Marshal(value)
	if a.err == nil {
		a.err = err
	}
	return a.blob(mediaType, text)
}

func (a *archive) index(value object) {
	text, err := json.Marshal(value)
	if a.err == nil {
		a.err = err
	}
	a.file("index.json", text)
}

// layer returns the image's file system: the trainer, links to it under all names that it answers to, and a few folders.
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
		// Every user that the container may run as can write there.
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

// Build compiles the trainer of a clone into a static binary, and packs that into an archive.
func Build(ctx context.Context, root, archive string, o Options) error {
	dir, err := os.MkdirTemp("", "trainer-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in the folder of what is temporary
	path := filepath.Join(dir, "trainer")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "./test/trainer/cmd/trainer") //nolint:gosec // no input
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the trainer: %w\n%s", err, out)
	}
	return Pack(path, archive, o)
}
