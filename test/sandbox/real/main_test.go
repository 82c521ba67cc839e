// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/image"
)

const (
	// holding makes this program hold a sandbox in the folder that it names, until it is killed.
	holding = "REAL_TEST_HOLDS"
	// having are the archives of images, with commas between them, that the sandbox being held has.
	having = "REAL_TEST_HAS"
	// denying makes this program run the one that it names with fewer rights, see deny.
	denying = "REAL_TEST_DENIES"
	// showing makes this program show the hardware address of the link that it names.
	showing = "REAL_TEST_SHOWS"
	// talker is the image of the pods.
	talker = "talker:test"
	// startLimit is what a start may take on an idle machine once everything is built.
	startLimit = 15 * time.Second
)

// talkerArchive is made once.
var talkerArchive string

func TestMain(m *testing.M) {
	if what := os.Getenv(denying); what != "" {
		deny(what)
	}
	if state := os.Getenv(holding); state != "" {
		hold(state)
	}
	if link := os.Getenv(showing); link != "" {
		show(link)
		return
	}
	if live.RealRefused() != nil {
		os.Exit(m.Run()) // each test skips
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "real-")
	if err == nil {
		defer os.RemoveAll(dir) //nolint:errcheck // in the folder of what is temporary
		talkerArchive = filepath.Join(dir, "talker.tar")
		err = packTalker(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "make the talker's image:", err)
		return 1
	}
	return m.Run()
}

func packTalker(dir string) error {
	binary := filepath.Join(dir, "talker")
	build := exec.Command("go", "build", "-o", binary, "./talker")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	archive, err := os.Create(talkerArchive)
	if err != nil {
		return err
	}
	if _, err := image.Pack(archive, data, image.Options{Names: []string{image.Full(talker)}}); err != nil {
		return err
	}
	return archive.Close()
}

func options(state string, images ...string) sandbox.Options {
	return sandbox.Options{
		StateDir: state, StockScheduler: true, WithoutController: true, Topology: sandbox.Uniform(2), Progress: os.Stdout,
		Real: &sandbox.Real{Images: images},
	}
}

// hold starts a sandbox and stays.
func hold(state string) {
	var images []string
	if archives := os.Getenv(having); archives != "" {
		images = strings.Split(archives, ",")
	}
	if _, err := sandbox.Start(context.Background(), options(state, images...)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {}
}

func show(link string) {
	found, err := net.InterfaceByName(link)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found.HardwareAddr)
}

// start starts a sandbox with a real node in a folder, whose logs are kept where the test fails.
func start(t *testing.T, state string) *live.Plane {
	t.Helper()
	s, err := sandbox.Start(t.Context(), options(state, talkerArchive))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	p, err := live.Connect(s)
	require.NoError(t, err)
	return p
}

// stateDir is a folder that is removed unless the test fails.
func stateDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "real-test-") //nolint:usetesting // the logs are kept where a test fails
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the logs are kept in %s/logs", dir)
			return
		}
		require.NoError(t, os.RemoveAll(dir))
	})
	return dir
}
