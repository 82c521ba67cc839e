// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/pprof"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/compatibility"
	_ "k8s.io/component-base/metrics/prometheus/restclient"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/klog/v2"
	"volcano.sh/apis/pkg/apis/helpers"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	"volcano.sh/volcano/pkg/kube"
	"volcano.sh/volcano/pkg/scheduler/cache"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/metrics"
	vcutil "volcano.sh/volcano/pkg/util"

	"github.com/paddle-volcano/paddle-volcano/controller/leader"
	"github.com/paddle-volcano/paddle-volcano/controller/versions"
)

// run schedules until the process receives SIGTERM; with an election, while it holds the lease. A process that waits for the lease answers
// health checks.
func run(opts *options.ServerOption, bindings int) error {
	if err := opts.CheckOptionOrDie(); err != nil {
		return err
	}
	if opts.CaCertFile != "" && opts.CertFile != "" && opts.KeyFile != "" {
		if err := opts.ParseCAFiles(nil); err != nil {
			return fmt.Errorf("parse the files of --ca-cert-file, --tls-cert-file and --tls-private-key-file: %w", err)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := kube.BuildConfig(opts.KubeClientOptions)
	if err != nil {
		return fmt.Errorf("configure the scheduler's clients: %w", err)
	}
	// As in kube-scheduler: the API server answers with protobuf where it can.
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	if opts.EnableHealthz {
		if err := helpers.StartHealthz(opts.HealthzBindAddress, "volcano-scheduler", opts.CaCertData, opts.CertData, opts.KeyData); err != nil {
			return fmt.Errorf("serve the health checks of --healthz-address: %w", err)
		}
	}
	work := func(ctx context.Context) error { return schedule(ctx, opts, config, bindings) }
	if !opts.LeaderElection.LeaderElect {
		return work(ctx)
	}
	//nolint:staticcheck // LockObjectNamespace is a deprecated flag that works in Volcano's scheduler
	opts.LeaderElection.ResourceNamespace = cmp.Or(opts.LockObjectNamespace, opts.LeaderElection.ResourceNamespace)
	lock, err := leader.NewLock(&opts.LeaderElection, config)
	if err != nil {
		return err
	}
	return leader.Run(ctx, &opts.LeaderElection, lock, nil, work)
}

// schedule does what Volcano's scheduler does between its flags and its cycles.
func schedule(ctx context.Context, opts *options.ServerOption, config *rest.Config, bindings int) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make the scheduler's client: %w", err)
	}
	if err := alignFeatureGates(client.Discovery()); err != nil {
		return err
	}
	go logVersions(ctx, client)
	if opts.PluginsDir != "" {
		if err := framework.LoadCustomPlugins(opts.PluginsDir); err != nil {
			return fmt.Errorf("load the plugins of --plugins-dir: %w", err)
		}
	}
	b := newBinder(bindings)
	cache.RegisterBindMethod(b)
	// Volumes without a provisioner, as local ones, are not attached. The cache would count them nevertheless, and no node has room for one.
	ignored := append(slices.Clone(opts.IgnoredCSIProvisioners), volume.NotSupportedProvisioner)
	clusterCache := cache.New(config, opts.SchedulerNames, opts.DefaultQueue, opts.NodeSelector, opts.NodeWorkerThreads, ignored, opts.ResyncPeriod)
	if err := recountVolumes(clusterCache); err != nil {
		return err
	}
	metrics.InitKubeSchedulerRelatedMetrics()
	c, err := newCycles(clusterCache, b, opts)
	if err != nil {
		return err
	}
	if opts.EnableMetrics || opts.EnablePprof {
		go serveMetrics(opts)
	}
	if opts.EnableCacheDumper {
		(&cache.Dumper{Cache: clusterCache, RootDir: opts.CacheDumpFileDir}).ListenForSignal(ctx.Done())
	}
	socket := cmp.Or(os.Getenv(vcutil.SocketDirEnvName), vcutil.DefaultSocketDir)
	go vcutil.ListenAndServeKlogLogLevel("klog", flag.Lookup("v").Value.String(), socket)
	return c.run(ctx, opts.SchedulerNames)
}

// logVersions logs the versions of Kubernetes and of Volcano's other programs, and a warning for each that is not supported.
func logVersions(ctx context.Context, client kubernetes.Interface) {
	versions.LogKubernetes(ctx, client.Discovery())
	versions.LogVolcano(ctx, client)
}

// alignFeatureGates gives Kubernetes' feature gates the defaults of the API server's version.
func alignFeatureGates(client discovery.ServerVersionInterface) error {
	version, err := client.ServerVersion()
	if err != nil {
		return fmt.Errorf("read the API server's version: %w", err)
	}
	registry := compatibility.NewComponentGlobalsRegistry()
	effective := compatibility.NewEffectiveVersionFromString(version.Major+"."+version.Minor, "", "")
	if err := registry.Register(compatibility.DefaultKubeComponent, effective, utilfeature.DefaultMutableFeatureGate); err != nil {
		return fmt.Errorf("align the feature gates with the API server %s: %w", version, err)
	}
	if err := registry.Set(); err != nil {
		return fmt.Errorf("align the feature gates with the API server %s: %w", version, err)
	}
	return nil
}

// serveMetrics serves what --enable-metrics and --enable-pprof ask for at --listen-address.
func serveMetrics(opts *options.ServerOption) {
	mux := http.NewServeMux()
	if opts.EnableMetrics {
		mux.Handle("/metrics", vcutil.PromHandler())
	}
	if opts.EnablePprof {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	server := &http.Server{Addr: opts.ListenAddress, Handler: mux, ReadHeaderTimeout: helpers.DefaultReadHeaderTimeout}
	klog.ErrorS(server.ListenAndServe(), "The metrics are not served", "address", opts.ListenAddress)
}
