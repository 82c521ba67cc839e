// SPDX-License-Identifier: Apache-2.0

package trainer

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/train"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// startEtcd runs a real etcd at a separate address.
func startEtcd(t *testing.T) (ip string) {
	t.Helper()
	binary, err := filepath.Abs("../../_output/bin/etcd")
	require.NoError(t, err)
	if _, err := os.Stat(binary); err != nil {
		binary = filepath.Join(t.TempDir(), "etcd")
		build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "go.etcd.io/etcd/server/v3")
		build.Dir, build.Env = "../../hack/plane", append(os.Environ(), "CGO_ENABLED=0")
		out, err := build.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	ip = newIP()
	client, peer := "http://"+ip+":2379", "http://"+ip+":2380"
	etcd := exec.Command(binary, "--data-dir", t.TempDir(), "--listen-client-urls", client, "--advertise-client-urls", client, //nolint:gosec // a pinned binary
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer, "--log-level", "error", "--unsafe-no-fsync")
	etcd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, etcd.Start())
	t.Cleanup(func() {
		_ = etcd.Process.Kill()
		_ = etcd.Wait()
	})
	network := wire.Net{Deadline: time.Minute}
	require.NoError(t, network.Await(t.Context(), "etcd", func(ctx context.Context) error {
		conn, err := network.DialOnce(ctx, ip+":2379")
		if err == nil {
			err = conn.Close()
		}
		return err
	}))
	return ip
}

// elasticGang has no volume in common: each node has a separate folder.
func elasticGang(t *testing.T, nodes int, bounds string) *gang {
	t.Helper()
	g := newGang(t)
	for i := range nodes {
		p := g.add(fmt.Sprintf("worker-%d", i), "python", "-m", "paddle.distributed.launch", "train.py")
		p.env["POD_IP"], p.env["MODEL_DIR"] = p.ip, filepath.Join(g.dir, p.name)
	}
	g.dns["kv.ns"] = []string{startEtcd(t)}
	g.set("PADDLE_MASTER", "etcd://kv.ns:2379").set("PADDLE_NNODES", bounds).set("PADDLE_JOB_ID", "ns-job").set("PADDLE_ELASTIC_LEVEL", "1")
	return g.set("PADDLE_ELASTIC_TIMEOUT", "1").set("TRAINER_STEP_TIME", "10ms")
}

// requireElastic checks that the nodes have trained the same model, and that it is the one that the worlds of its
// segments lead to. It returns the worlds.
func requireElastic(t *testing.T, g *gang, ends ...ended) (worlds []int) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(g.dir, "*", train.ModelFile))
	require.NoError(t, err)
	require.Len(t, found, 1, "only rank 0 writes the model")
	text, err := os.ReadFile(found[0])
	require.NoError(t, err)
	var written train.State
	require.NoError(t, json.Unmarshal(text, &written))
	for _, segment := range written.Worlds {
		require.Zero(t, segment.From%train.Every, "rounds begin at checkpoints: %v", written.Worlds)
		worlds = append(worlds, segment.World)
	}
	want := train.Hash(train.Model(written.Worlds, 60))
	require.Equal(t, want, train.Hash(written.Params))
	for _, end := range ends {
		require.Zero(t, end.code, end.log)
		require.Contains(t, end.log, "model sha256 "+want, end.log)
	}
	return worlds
}

// when closes a channel at the first line that begins so.
func when(prefix string) (seen func(string), reached <-chan struct{}) {
	channel := make(chan struct{})
	open := true // lines come one by one
	return func(line string) {
		if open && strings.HasPrefix(line, prefix) {
			open = false
			close(channel)
		}
	}, channel
}

func TestElasticGrows(t *testing.T) {
	t.Parallel()
	g := elasticGang(t, 3, "1:3")
	seen, reached := when("step 20 ")
	first, second := g.start(t.Context(), g.pods[0], seen), g.start(t.Context(), g.pods[1], nil)
	<-reached
	third := g.start(t.Context(), g.pods[2], nil)
	require.Equal(t, []int{2, 3}, requireElastic(t, g, <-first, <-second, <-third))
}

// The oldest is rank 0, and takes the folder with the checkpoints with it; the others remember.
func TestElasticShrinks(t *testing.T) {
	t.Parallel()
	g := elasticGang(t, 3, "2:3")
	deleted, remove := context.WithCancel(t.Context())
	defer remove()
	alone, registered := when("elastic: 1 nodes")
	first := g.start(deleted, g.pods[0], alone)
	<-registered
	seen, reached := when("step 20 ")
	second, third := g.start(t.Context(), g.pods[1], seen), g.start(t.Context(), g.pods[2], nil)
	<-reached
	remove()
	end := <-first
	require.Equal(t, ExitStopped, end.code)
	require.Contains(t, end.log, "elastic: rank 0 of 3")
	rest := []ended{<-second, <-third}
	require.Equal(t, []int{3, 2}, requireElastic(t, g, rest...))
	require.Regexp(t, "resumed from step [2-5]0", rest[0].log)
}

// A node that crashes is removed once its lease has expired. Its replacement continues from the checkpoint.
func TestElasticSurvivesACrash(t *testing.T) {
	t.Parallel()
	g := elasticGang(t, 4, "2:3").set("PADDLE_ELASTIC_TIMEOUT", "20").set("TRAINER_DEADLINE", "60s")
	g.set("TRAINER_CRASH_RANK", "-1")
	g.pods[2].env["TRAINER_CRASH_AT_STEP"] = "25"
	first, second := g.start(t.Context(), g.pods[0], nil), g.start(t.Context(), g.pods[1], nil)
	crashed := <-g.start(t.Context(), g.pods[2], nil)
	require.Equal(t, ExitCrash, crashed.code, crashed.log)
	fourth := <-g.start(t.Context(), g.pods[3], nil)
	require.Equal(t, []int{3}, requireElastic(t, g, <-first, <-second, fourth), "the same size before and after")
	require.Contains(t, fourth.log, "resumed from step 20")
}
