// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	vcclient "volcano.sh/apis/pkg/client/clientset/versioned"

	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned"
	paddlescheme "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned/scheme"
	"github.com/paddle-volcano/paddle-volcano/controller/leader"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob"
)

// connect returns the clients and the lock for leader election. The clients send no writes while the lock is not held.
func connect(o *Options, f *leaderWriteGuard) (paddlejob.Clients, resourcelock.Interface, error) {
	var clients paddlejob.Clients
	unguarded, err := configOf(o)
	if err != nil {
		return clients, nil, err
	}
	config := rest.CopyConfig(unguarded)
	if f != nil {
		config.Wrap(f.wrap)
	}
	if clients.Paddle, err = paddleclient.NewForConfig(config); err != nil {
		return clients, nil, fmt.Errorf("creating a client for PaddleJobs: %w", err)
	}
	if clients.Volcano, err = vcclient.NewForConfig(config); err != nil {
		return clients, nil, fmt.Errorf("creating a client for Volcano: %w", err)
	}
	core := rest.CopyConfig(config)
	core.AcceptContentTypes, core.ContentType = runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON, runtime.ContentTypeProtobuf
	if clients.Kube, err = kubernetes.NewForConfig(core); err != nil {
		return clients, nil, fmt.Errorf("creating a client for Kubernetes: %w", err)
	}
	if f == nil {
		return clients, nil, nil // no election, no lock
	}
	f.Interface, err = leader.NewLock(&o.LeaderElection, unguarded) // the guard refuses writes until the lease is held
	return clients, f, err
}

// configOf returns the client configuration.
func configOf(o *Options) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags(o.Master, o.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w: set --kubeconfig when running outside of a cluster", err)
	}
	config.QPS, config.Burst = o.QPS, o.Burst
	return rest.AddUserAgent(config, Name), nil
}

// newRecorder returns a recorder of events and the function that stops it.
func newRecorder(ctx context.Context, kube kubernetes.Interface) (record.EventRecorder, func()) {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartStructuredLogging(3)
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: kube.CoreV1().Events("")})
	return broadcaster.NewRecorder(paddlescheme.Scheme, corev1.EventSource{Component: Name}), broadcaster.Shutdown
}
