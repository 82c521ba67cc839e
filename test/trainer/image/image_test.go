// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/argv"
)

func untar(t *testing.T, archive []byte) (files map[string][]byte, headers map[string]*tar.Header) {
	t.Helper()
	files, headers = map[string][]byte{}, map[string]*tar.Header{}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, headers
		}
		require.NoError(t, err)
		require.NotContains(t, headers, header.Name)
		headers[header.Name] = header
		files[header.Name], err = io.ReadAll(r)
		require.NoError(t, err)
	}
}

func TestPack(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/binary", []byte("binary"), 0o600))
	pack := func(archive string) []byte {
		require.NoError(t, Pack(dir+"/binary", archive, Options{Names: []string{"a:1", "b:2"}, Env: []string{"TRAINER_STEPS=5"}}))
		text, err := os.ReadFile(archive)
		require.NoError(t, err)
		return text
	}
	first := pack(dir + "/first.tar")
	require.Equal(t, first, pack(dir+"/second.tar"), "the same bytes each time")

	files, _ := untar(t, first)
	blob := func(d descriptor, into any) []byte {
		content := files["blobs/"+strings.Replace(d.Digest, ":", "/", 1)]
		sum := sha256.Sum256(content)
		require.Equal(t, d.Digest, "sha256:"+hex.EncodeToString(sum[:]))
		require.Len(t, content, int(d.Size))
		if into != nil {
			require.NoError(t, json.Unmarshal(content, into))
		}
		return content
	}
	var index struct{ Manifests []descriptor }
	require.NoError(t, json.Unmarshal(files["index.json"], &index))
	require.Len(t, index.Manifests, 2)
	require.Equal(t, "b:2", index.Manifests[1].Annotations["io.containerd.image.name"])
	require.Equal(t, index.Manifests[0].Digest, index.Manifests[1].Digest)
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	blob(index.Manifests[0], &manifest)
	var config struct {
		Config struct{ Entrypoint, Env []string }
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	blob(manifest.Config, &config)
	require.Equal(t, []string{Binary}, config.Config.Entrypoint)
	require.Equal(t, []string{"PATH=/usr/local/bin:/usr/bin:/bin", "TRAINER_STEPS=5"}, config.Config.Env)
	require.Equal(t, []string{manifest.Layers[0].Digest}, config.RootFS.DiffIDs)

	files, headers := untar(t, blob(manifest.Layers[0], nil))
	require.Equal(t, "binary", string(files["usr/local/bin/trainer"]))
	for _, name := range []string{"bin/sh", "bin/bash", "usr/bin/python", "usr/bin/python3"} {
		require.Equal(t, Binary, headers[name].Linkname, name)
	}
	for _, name := range []string{"tmp/", "workspace/"} {
		require.EqualValues(t, 0o1777, headers[name].Mode, name)
	}
	require.Contains(t, headers, "usr/local/bin/")
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	require.ErrorIs(t, Pack(dir+"/none", dir+"/archive.tar", Options{}), os.ErrNotExist)
	require.NoError(t, os.WriteFile(dir+"/binary", nil, 0o600))
	require.ErrorIs(t, Pack(dir+"/binary", dir+"/none/archive.tar", Options{}), os.ErrNotExist)
	require.ErrorIs(t, Pack(dir+"/binary", "/dev/full", Options{}), syscall.ENOSPC)
	require.ErrorContains(t, Build(t.Context(), dir, dir+"/archive.tar", Options{}), "build the trainer")
}

func TestFull(t *testing.T) {
	for name, want := range map[string]string{
		"paddle": "docker.io/library/paddle:latest", "volcanosh/edlctr:v1": "docker.io/volcanosh/edlctr:v1", "a.b/c": "a.b/c:latest",
		"localhost/x:1": "localhost/x:1", "registry:5000/x@sha256:0": "registry:5000/x@sha256:0",
	} {
		require.Equal(t, want, Full(name))
	}
}

// The trainer replaces every image and every command of the examples but one.
func TestTheExamplesAreCovered(t *testing.T) {
	images := regexp.MustCompile(`(?m)^\s*(?:- )?image: (\S+)`)
	commands := regexp.MustCompile(`(?m)^\s*command: (\[.*\])\n(?:\s*args: (\[.*\])\n)?`)
	found := 0
	require.NoError(t, fs.WalkDir(deploy.Files, "examples", func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		if entry.IsDir() || entry.Name() == "ctr-volcano.yaml" {
			return nil
		}
		text, err := deploy.Files.ReadFile(path)
		require.NoError(t, err)
		for _, match := range images.FindAllSubmatch(text, -1) {
			found++
			require.Contains(t, Names(), Full(string(match[1])), path)
		}
		for _, match := range commands.FindAllSubmatch(text, -1) {
			found++
			line := append(list(t, string(match[1])), list(t, string(match[2]))...)
			_, err := argv.Parse(line)
			require.NoError(t, err, path)
		}
		return nil
	}))
	require.Greater(t, found, 30)
}

// list reads a list of words in one line, in quotes or without.
func list(t *testing.T, text string) (words []string) {
	t.Helper()
	if text == "" {
		return nil
	}
	if json.Unmarshal([]byte(text), &words) == nil {
		return words
	}
	for _, word := range strings.Split(strings.Trim(text, "[]"), ",") {
		words = append(words, strings.TrimSpace(word))
	}
	return words
}
