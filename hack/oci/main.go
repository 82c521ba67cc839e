// SPDX-License-Identifier: Apache-2.0

// Command oci writes an image of a static program for several platforms as an OCI layout. The image holds the program and nothing else.
// The same programs make the same bytes. It prints the digest of the image's index.
package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user runs the program if the pod sets none. It is no user of the node.
const user = "65532:65532"

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "oci:", err)
		os.Exit(1)
	}
}

// options are what all platforms of an image share.
type options struct {
	// layout is the folder that is written, which must not exist.
	layout string
	// name is what the image is called where it is loaded, with its tag.
	name string
	// created is the time of the image and of the file in it.
	created time.Time
	// labels are those of the OCI image specification.
	labels map[string]string
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("oci", flag.ContinueOnError)
	o := options{}
	flags.StringVar(&o.layout, "layout", "", "The `folder` to write, which must not exist.")
	flags.StringVar(&o.name, "name", "", "The `name` of the image, such as registry.example.com/paddle/paddle-barrier:v0.1.0, by which containerd and Docker load it.")
	version := flags.String("version", "", "The `version` of the program, such as v0.1.0.")
	created := flags.Int64("created", 0, "The `time` of the image, in seconds since 1970.")
	revision := flags.String("revision", "", "The `commit` that the program was built from.")
	source := flags.String("source", "", "The `URL` of the repository.")
	if err := flags.Parse(args); err != nil {
		return err //nolint:wrapcheck // it is reported already
	}
	if o.layout == "" || o.name == "" || *version == "" || flags.NArg() == 0 {
		return errors.New("usage: oci -layout FOLDER -name IMAGE:TAG -version VERSION [-created SECONDS] [-revision COMMIT] [-source URL] OS/ARCHITECTURE=PROGRAM...")
	}
	o.created = time.Unix(*created, 0).UTC()
	o.labels = map[string]string{
		"org.opencontainers.image.version": *version, "org.opencontainers.image.revision": *revision,
		"org.opencontainers.image.source": *source, "org.opencontainers.image.licenses": "Apache-2.0",
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arg := range flags.Args() {
		name, file, _ := strings.Cut(arg, "=")
		system, architecture, ok := strings.Cut(name, "/")
		if !ok || file == "" {
			return fmt.Errorf("%q is not OS/ARCHITECTURE=PROGRAM", arg)
		}
		platform := v1.Platform{OS: system, Architecture: architecture}
		image, err := o.image(platform, file)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	index, ok := mutate.Annotations(index, o.labels).(v1.ImageIndex)
	if !ok {
		return errors.New("annotate the index: it is no index any more")
	}
	return o.write(index, *version, out)
}

func (o *options) image(platform v1.Platform, file string) (v1.Image, error) {
	archive, err := o.archive(file)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive)), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("make a layer of %s: %w", file, err)
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: o.created}, CreatedBy: "hack/oci"}})
	if err != nil {
		return nil, fmt.Errorf("add the layer of %s: %w", file, err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the configuration of the image of %s: %w", file, err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = platform.OS, platform.Architecture, v1.Time{Time: o.created}
	config.Config.User, config.Config.Entrypoint, config.Config.Labels = user, []string{"/" + path.Base(file)}, o.labels
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return nil, fmt.Errorf("configure the image of %s: %w", file, err)
	}
	return image, nil
}

// archive returns the image's file system: the program.
func (o *options) archive(file string) ([]byte, error) {
	program, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the program: %w", err)
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	header := &tar.Header{Typeflag: tar.TypeReg, Name: path.Base(file), Mode: 0o755, Size: int64(len(program)), ModTime: o.created, Format: tar.FormatPAX}
	if err = w.WriteHeader(header); err == nil {
		if _, err = w.Write(program); err == nil {
			err = w.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("archive %s: %w", file, err)
	}
	return archive.Bytes(), nil
}

// write writes the layout and prints the digest of the index.
func (o *options) write(index v1.ImageIndex, version string, out io.Writer) error {
	if _, err := os.Stat(o.layout); !os.IsNotExist(err) {
		return fmt.Errorf("%s is there already: delete it first", o.layout)
	}
	folder, err := layout.Write(o.layout, empty.Index)
	if err != nil {
		return fmt.Errorf("write %s: %w", o.layout, err)
	}
	names := map[string]string{"org.opencontainers.image.ref.name": version, "io.containerd.image.name": o.name}
	if err := folder.AppendIndex(index, layout.WithAnnotations(names)); err != nil {
		return fmt.Errorf("write the image into %s: %w", o.layout, err)
	}
	digest, err := index.Digest()
	if err != nil {
		return fmt.Errorf("compute the digest of the image: %w", err)
	}
	_, err = fmt.Fprintln(out, digest)
	return err //nolint:wrapcheck // main prints it
}
