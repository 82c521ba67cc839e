// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/config"
	"k8s.io/component-base/config/options"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/metrics"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob"
)

// Options are the flags of paddlejob-controller.
type Options struct {
	// Kubeconfig is a path; empty means the ServiceAccount of the pod that the program runs in.
	Kubeconfig string
	// Master is the API server's URL, instead of the one in Kubeconfig.
	Master string
	// Options are those of the controller. The HostPorts of Render are those of HostPortRange.
	paddlejob.Options
	// HostPortRange holds the ports of nodes that jobs with intranet Host may use, as first-last.
	HostPortRange string
	// Kubeflow runs Kubeflow's PaddleJobs too.
	Kubeflow bool
	// QPS and Burst bound the requests per second to the API server.
	QPS   float32
	Burst int
	// HTTPAddress is where health is served, and metrics unless MetricsAddress is set; empty serves nothing.
	HTTPAddress string
	// MetricsAddress is where metrics are served over HTTPS to users with permission; empty serves none there.
	MetricsAddress string
	LeaderElection config.LeaderElectionConfiguration
	Metrics        *metrics.Options
	Logs           *logsapi.LoggingConfiguration
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{
		Options: paddlejob.Options{
			Workers: 8, Resync: 10 * time.Minute,
			Render: builder.Config{DefaultIntranet: v1.PodIP, BarrierTimeout: 10 * time.Minute, SchedulerName: builder.DefaultScheduler},
		},
		HostPortRange: builder.DefaultHostPorts().String(),
		QPS:           100,
		Burst:         200,
		HTTPAddress:   ":8080",
		LeaderElection: config.LeaderElectionConfiguration{
			LeaderElect:       true,
			LeaseDuration:     metav1.Duration{Duration: 15 * time.Second},
			RenewDeadline:     metav1.Duration{Duration: 10 * time.Second},
			RetryPeriod:       metav1.Duration{Duration: 2 * time.Second},
			ResourceLock:      resourcelock.LeasesResourceLock,
			ResourceName:      "paddlejob-controller",
			ResourceNamespace: "paddle-system",
		},
		Metrics: metrics.NewOptions(),
		Logs:    logs.NewOptions(),
	}
}

// Flags returns the options as flags, in groups.
func (o *Options) Flags() cliflag.NamedFlagSets {
	var sets cliflag.NamedFlagSets
	fs := sets.FlagSet("controller")
	fs.StringVar(&o.Namespace, "namespace", o.Namespace, "The only namespace whose PaddleJobs are run. Empty means all.")
	fs.StringVar((*string)(&o.Render.DefaultIntranet), "default-intranet", string(o.Render.DefaultIntranet),
		"What an unset spec.intranet means for jobs that are created from now on: PodIP or Service.")
	fs.StringVar(&o.Render.ElasticEtcd, "elastic-etcd", o.Render.ElasticEtcd,
		"The etcd, as host:port, through which the workers of elastic jobs find each other that name none. The host must not begin "+
			"with e, t, c or d.")
	fs.StringVar(&o.HostPortRange, "host-ports", o.HostPortRange,
		"Ports of nodes, as first-last, that pods of jobs with intranet Host may use, 20 each.")
	fs.BoolVar(&o.Render.AnnouncePodIPs, "announce-pod-ips", o.Render.AnnouncePodIPs,
		"Tell the pods of jobs with intranet PodIP their IPv4 address by an annotation: for clusters in which the first of a pod's "+
			"two addresses is IPv6. One more write per pod.")
	fs.StringVar(&o.Render.BarrierImage, "barrier-image", o.Render.BarrierImage,
		"Image of the init container that lets a pod start when the other pods of its job can be found. Empty means none.")
	fs.StringArrayVar(&o.Render.BarrierPullSecrets, "barrier-pull-secret", o.Render.BarrierPullSecrets,
		"Name of a Secret of the job's namespace that pods with that init container name in imagePullSecrets. It can be given several times.")
	fs.DurationVar(&o.Render.BarrierTimeout, "barrier-timeout", o.Render.BarrierTimeout,
		"How long that init container waits before it fails the pod.")
	fs.BoolVar(&o.Kubeflow, "kubeflow", o.Kubeflow,
		"Run Kubeflow's PaddleJobs (kubeflow.org/v1) too, as soon as their CRD is there. Kubeflow's training operator must not run them then.")
	fs.IntVar(&o.Workers, "workers", o.Workers, "How many PaddleJobs are worked on at the same time.")
	fs.DurationVar(&o.Resync, "resync-period", o.Resync,
		"How often every PaddleJob is looked at again without a change. 0 means never.")
	fs.StringVar(&o.HTTPAddress, "http-address", o.HTTPAddress,
		"Where /healthz and /readyz are served, and /metrics unless --metrics-address is set, as host:port. Empty serves nothing.")
	fs.StringVar(&o.MetricsAddress, "metrics-address", o.MetricsAddress,
		"Where /metrics is served over HTTPS, as host:port, to those whose bearer token the API server knows and who may get the URL /metrics.")
	fs.StringVar(&o.Render.SchedulerName, "scheduler-name", o.Render.SchedulerName, "Name of the scheduler that places the pods: Volcano's, or one that runs next to it.")

	fs = sets.FlagSet("API server")
	fs.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "Path of a kubeconfig. Empty means the pod's ServiceAccount.")
	fs.StringVar(&o.Master, "master", o.Master, "URL of the API server, over the one in --kubeconfig.")
	fs.Float32Var(&o.QPS, "kube-api-qps", o.QPS, "Requests per second to the API server.")
	fs.IntVar(&o.Burst, "kube-api-burst", o.Burst, "Requests to the API server above --kube-api-qps for a moment.")

	options.BindLeaderElectionFlags(&o.LeaderElection, sets.FlagSet("leader election"))
	o.Metrics.AddFlags(sets.FlagSet("metrics"))
	logsapi.AddFlags(o.Logs, sets.FlagSet("logs"))
	return sets
}

// Validate returns everything that is wrong with the options.
func (o *Options) Validate() error {
	var errs []error
	if intranet := o.Render.DefaultIntranet; intranet != v1.PodIP && intranet != v1.Service {
		errs = append(errs, fmt.Errorf("--default-intranet is %q: use PodIP or Service", o.Render.DefaultIntranet))
	}
	if o.Render.ElasticEtcd != "" {
		if problem := builder.EtcdProblem(o.Render.ElasticEtcd); problem != "" {
			errs = append(errs, fmt.Errorf("--elastic-etcd: %s", problem))
		}
	}
	if _, err := builder.ParsePorts(o.HostPortRange); err != nil {
		errs = append(errs, fmt.Errorf("--host-ports: %w", err))
	}
	if o.Render.BarrierTimeout < time.Second {
		errs = append(errs, fmt.Errorf("--barrier-timeout is %s: use 1s or more", o.Render.BarrierTimeout))
	}
	if o.Render.SchedulerName == "" {
		errs = append(errs, errors.New("--scheduler-name is empty: leave it out for Volcano's"))
	}
	if o.Workers < 1 {
		errs = append(errs, fmt.Errorf("--workers is %d: use 1 or more", o.Workers))
	}
	if o.Resync < 0 {
		errs = append(errs, fmt.Errorf("--resync-period is %s: use 0 or more", o.Resync))
	}
	if o.QPS <= 0 || o.Burst < 1 {
		errs = append(errs, fmt.Errorf("--kube-api-qps is %g and --kube-api-burst is %d: use more than 0", o.QPS, o.Burst))
	}
	if o.LeaderElection.LeaderElect && o.LeaderElection.ResourceLock != resourcelock.LeasesResourceLock {
		errs = append(errs, fmt.Errorf("--leader-elect-resource-lock is %q: only %q is known",
			o.LeaderElection.ResourceLock, resourcelock.LeasesResourceLock))
	}
	errs = append(errs, o.Metrics.Validate()...)
	return errors.Join(errs...)
}

// rendering returns the configuration of package builder.
func (o *Options) rendering() builder.Config {
	config := o.Render
	config.HostPorts, _ = builder.ParsePorts(o.HostPortRange) // Validate has refused a wrong one
	return config
}
