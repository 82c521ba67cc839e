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

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// Options are the flags of paddlejob-controller.
type Options struct {
	// Kubeconfig is a path; empty means the ServiceAccount of the pod that the program runs in.
	Kubeconfig string
	// Master is the API server's URL, over the one in Kubeconfig.
	Master string
	// Namespace is the only one watched, all if empty.
	Namespace string
	// DefaultIntranet is what an unset spec.intranet means.
	DefaultIntranet string
	// Workers is how many PaddleJobs are worked on at the same time.
	Workers int
	// ResyncPeriod is how often every PaddleJob is looked at again without a change.
	ResyncPeriod time.Duration
	// QPS and Burst bound the requests per second to the API server.
	QPS   float32
	Burst int
	// HTTPAddress is where metrics and health are served; empty serves nothing.
	HTTPAddress    string
	LeaderElection config.LeaderElectionConfiguration
	Metrics        *metrics.Options
	Logs           *logsapi.LoggingConfiguration
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{
		DefaultIntranet: string(v1.PodIP),
		Workers:         8,
		ResyncPeriod:    10 * time.Minute,
		QPS:             100,
		Burst:           200,
		HTTPAddress:     ":8080",
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
	fs.StringVar(&o.DefaultIntranet, "default-intranet", o.DefaultIntranet,
		"What an unset spec.intranet means for jobs that are created from now on: PodIP or Service.")
	fs.IntVar(&o.Workers, "workers", o.Workers, "How many PaddleJobs are worked on at the same time.")
	fs.DurationVar(&o.ResyncPeriod, "resync-period", o.ResyncPeriod,
		"How often every PaddleJob is looked at again without a change. 0 means never.")
	fs.StringVar(&o.HTTPAddress, "http-address", o.HTTPAddress,
		"Where /metrics, /healthz and /readyz are served, as host:port. Empty serves nothing.")

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
	switch v1.Intranet(o.DefaultIntranet) {
	case v1.PodIP, v1.Service:
	default:
		errs = append(errs, fmt.Errorf("--default-intranet is %q: use PodIP or Service", o.DefaultIntranet))
	}
	if o.Workers < 1 {
		errs = append(errs, fmt.Errorf("--workers is %d: use 1 or more", o.Workers))
	}
	if o.ResyncPeriod < 0 {
		errs = append(errs, fmt.Errorf("--resync-period is %s: use 0 or more", o.ResyncPeriod))
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
