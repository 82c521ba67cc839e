// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/image"
)

// Packages are Debian's packages with the parts of a node that are not built from Go modules.
func Packages() []string { return []string{"containerd", "containernetworking-plugins", "runc"} }

// Tools returns the programs that fetch and unpack them.
func Tools() []string { return []string{"apt-get", "dpkg"} }

// versions is the file that says which packages a folder holds; it is written last.
const versions = "versions"

// Unpack downloads the packages in the versions that this release of Debian has now, and unpacks them into a folder; nothing
// is installed. A folder that holds them already is left as it is, so that a clone keeps the versions that it first found.
func Unpack(ctx context.Context, dir string, say func(format string, args ...any)) error {
	if data, err := os.ReadFile(filepath.Join(dir, versions)); err == nil && holdsAll(strings.Fields(string(data))) {
		return nil
	}
	say("downloading the packages %s", strings.Join(Packages(), ", "))
	fresh := dir + ".new"
	archives := filepath.Join(fresh, "archives")
	if err := errors.Join(os.RemoveAll(fresh), os.RemoveAll(dir)); err != nil {
		return fmt.Errorf("empty the folder of packages: %w", err)
	}
	if err := os.MkdirAll(archives, 0o755); err != nil { //nolint:gosec // programs are for everybody to run
		return fmt.Errorf("make the folder of packages: %w", err)
	}
	// As root apt would download as the user _apt, who may not write here.
	if err := run(ctx, archives, "apt-get", append([]string{"-q", "-o", "APT::Sandbox::User=root", "download"}, Packages()...)...); err != nil {
		return fmt.Errorf("%w\n(lists of packages that are missing or old are renewed by: apt-get update)", err)
	}
	found, err := filepath.Glob(filepath.Join(archives, "*.deb"))
	if err != nil {
		return fmt.Errorf("list the packages: %w", err)
	}
	var names []string
	for _, archive := range found {
		names = append(names, strings.TrimSuffix(filepath.Base(archive), ".deb"))
		if err := run(ctx, fresh, "dpkg", "--extract", archive, fresh); err != nil {
			return err
		}
	}
	if !holdsAll(names) {
		return fmt.Errorf("apt-get download left only %s of %s", strings.Join(names, ", "), strings.Join(Packages(), ", "))
	}
	if err := os.RemoveAll(archives); err != nil {
		return fmt.Errorf("remove the packages' archives: %w", err)
	}
	if err := os.WriteFile(filepath.Join(fresh, versions), []byte(strings.Join(names, "\n")+"\n"), 0o644); err != nil { //nolint:gosec // for everybody to read, as the programs are
		return fmt.Errorf("write down the packages' versions: %w", err)
	}
	if err := os.Rename(fresh, dir); err != nil {
		return fmt.Errorf("put the packages in place: %w", err)
	}
	say("unpacked %s", strings.Join(names, ", "))
	return nil
}

// holdsAll reports whether there is a file, named <package>_<version>_<architecture>, for every package.
func holdsAll(names []string) bool {
	return !slices.ContainsFunc(Packages(), func(wanted string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, wanted+"_") })
	})
}

func run(ctx context.Context, dir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, strings.TrimSpace(output.String()))
	}
	return nil
}

// WritePause writes an archive of PauseImage, whose program is paddle-box.
func WritePause(binary, archive string) error {
	return image.Pack(binary, archive, image.Options{Names: []string{PauseImage}, Entrypoint: []string{image.Binary, "pause"}})
}

// WriteBarrier writes an archive of the image that pods of PaddleJobs run first, under the name that they know and with the
// user of its Dockerfile.
func WriteBarrier(binary, name, archive string) error {
	return image.Pack(binary, archive, image.Options{Names: []string{image.Full(name)}, User: "65532:65532"})
}
