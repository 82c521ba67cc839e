// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/leaderelection"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob"
)

func TestOptions(t *testing.T) {
	t.Parallel()
	require.NoError(t, NewOptions().Validate())
	for name, tc := range map[string]struct {
		wrong func(*Options)
		says  string
	}{
		"intranet":  {wrong: func(o *Options) { o.Render.DefaultIntranet = "Host" }, says: `--default-intranet is "Host": use PodIP or Service`},
		"workers":   {wrong: func(o *Options) { o.Workers = 0 }, says: "--workers is 0"},
		"resync":    {wrong: func(o *Options) { o.Resync = -time.Second }, says: "--resync-period is -1s"},
		"qps":       {wrong: func(o *Options) { o.QPS = 0 }, says: "--kube-api-qps is 0"},
		"burst":     {wrong: func(o *Options) { o.Burst = 0 }, says: "--kube-api-burst is 0"},
		"lock":      {wrong: func(o *Options) { o.LeaderElection.ResourceLock = "endpoints" }, says: `only "leases" is known`},
		"etcd":      {wrong: func(o *Options) { o.Render.ElasticEtcd = "etcd:2379" }, says: `--elastic-etcd: "etcd" begins with`},
		"scheduler": {wrong: func(o *Options) { o.Render.SchedulerName = "" }, says: "--scheduler-name is empty"},
		"ports":     {wrong: func(o *Options) { o.HostPortRange = "20000" }, says: `--host-ports: "20000" is not a range`},
		"barrier":   {wrong: func(o *Options) { o.Render.BarrierTimeout = 0 }, says: "--barrier-timeout is 0s: use 1s or more"},
		"two wrong": {wrong: func(o *Options) { o.Workers, o.Render.DefaultIntranet = 0, "" }, says: "--default-intranet is \"\": use PodIP or Service\n--workers is 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := NewOptions()
			tc.wrong(o)
			require.ErrorContains(t, o.Validate(), tc.says)
		})
	}
}

func TestRendering(t *testing.T) {
	t.Parallel()
	o := NewOptions()
	o.Render.ElasticEtcd, o.HostPortRange, o.Render.AnnouncePodIPs = "kv:2379", "30000-30099", true
	require.Empty(t, o.rendering().BarrierImage, "the user chooses the image")
	o.Render.BarrierImage, o.Render.BarrierTimeout, o.Render.SchedulerName = "barrier:v1", 90*time.Second, "paddle"
	o.Render.BarrierPullSecrets = []string{"key"}
	require.Equal(t, builder.Config{
		DefaultIntranet: v1.PodIP, ElasticEtcd: "kv:2379", HostPorts: builder.Ports{First: 30000, Count: 100}, AnnouncePodIPs: true,
		BarrierImage: "barrier:v1", BarrierPullSecrets: []string{"key"}, BarrierTimeout: 90 * time.Second, SchedulerName: "paddle",
	}, o.rendering())
}

// Not beside other tests that make the command: --version is one flag in a process.
func TestCommand(t *testing.T) {
	var out bytes.Buffer
	help := NewCommand()
	help.SetOut(&out)
	help.SetArgs([]string{"--help"})
	require.NoError(t, help.Execute())
	for _, flag := range []string{
		"--namespace", "--default-intranet", "--workers", "--kube-api-qps", "--kube-api-burst", "--kubeconfig", "--http-address",
		"--resync-period", "--elastic-etcd", "--host-ports", "--announce-pod-ips", "--leader-elect", "--logging-format", "--version", "--v ",
	} {
		require.Contains(t, out.String(), flag)
	}

	wrong := NewCommand()
	wrong.SetArgs([]string{"--workers=0"})
	wrong.SilenceErrors = true
	require.ErrorContains(t, wrong.Execute(), "flags: --workers is 0")
}

// Which of two flags of a name counts would differ from start to start: -v was without effect at one start in nine.
func TestFlagsStandOnce(t *testing.T) {
	in := map[string]string{}
	for name, set := range allFlags(NewOptions()).FlagSets {
		set.VisitAll(func(f *pflag.Flag) {
			require.NotContains(t, in, f.Name, "in the set %q too", name)
			in[f.Name] = name
		})
	}
	require.Equal(t, "logs", in["v"])
}

func TestHealth(t *testing.T) {
	t.Parallel()
	paddlejob.RegisterMetrics()
	synced := false
	server := httptest.NewServer(handler(func() bool { return synced }, leaderelection.NewLeaderHealthzAdaptor(time.Second), true))
	t.Cleanup(server.Close)
	get := func(path string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, http.NoBody)
		require.NoError(t, err)
		response, err := server.Client().Do(request)
		require.NoError(t, err)
		var body bytes.Buffer
		_, err = body.ReadFrom(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode, body.String()
	}
	code, text := get("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Contains(t, text, "CRDs")
	synced = true
	code, _ = get("/readyz")
	require.Equal(t, http.StatusOK, code)
	code, _ = get("/healthz")
	require.Equal(t, http.StatusOK, code)
	code, text = get("/metrics")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, text, "go_goroutines")
}
