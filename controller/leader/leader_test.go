// SPDX-License-Identifier: Apache-2.0

package leader

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/component-base/config"
)

// election returns the configuration of a leader election with short durations, and the lock of the program of a name.
func election(t *testing.T, client *fake.Clientset, name string) (*config.LeaderElectionConfiguration, resourcelock.Interface) {
	t.Helper()
	e := &config.LeaderElectionConfiguration{
		ResourceName: "paddlejob-controller", LeaseDuration: metav1.Duration{Duration: 3 * time.Second},
		RenewDeadline: metav1.Duration{Duration: 2 * time.Second}, RetryPeriod: metav1.Duration{Duration: 100 * time.Millisecond},
	}
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, "paddle-system", e.ResourceName, client.CoreV1(), client.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: name})
	require.NoError(t, err)
	return e, lock
}

// works reports that it has begun, and ends with its context.
func works(working chan struct{}) func(context.Context) error {
	return func(ctx context.Context) error {
		close(working)
		<-ctx.Done()
		return nil
	}
}

func leaseOf(t *testing.T, client *fake.Clientset) *coordinationv1.Lease {
	t.Helper()
	lease, err := client.CoordinationV1().Leases("paddle-system").Get(t.Context(), "paddlejob-controller", metav1.GetOptions{})
	require.NoError(t, err)
	return lease
}

// The next leader must not begin while this one still writes.
func TestLeaseIsReleasedAfterTheLastWrite(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	o, lock := election(t, client, "first")
	ctx, cancel := context.WithCancel(t.Context())
	working, finish := make(chan struct{}), make(chan struct{})
	var holder string
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, o, lock, leaderelection.NewLeaderHealthzAdaptor(time.Second), func(ctx context.Context) error {
			close(working)
			<-ctx.Done()
			<-finish
			// No assertion here: the test function does not run in this goroutine.
			if lease, err := client.CoordinationV1().Leases("paddle-system").Get(context.WithoutCancel(ctx), "paddlejob-controller", metav1.GetOptions{}); err == nil {
				holder = *lease.Spec.HolderIdentity
			}
			return nil
		})
	}()
	<-working
	cancel()
	close(finish)
	require.NoError(t, <-ended)
	require.Equal(t, "first", holder, "held to the end")
	require.Empty(t, *leaseOf(t, client).Spec.HolderIdentity, "and then released")
}

func TestAProgramThatWaitsEndsWithItsContext(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	o, first := election(t, client, "first")
	ctx, cancel := context.WithCancel(t.Context())
	working, ended := make(chan struct{}), make(chan error, 2)
	health := func() *leaderelection.HealthzAdaptor { return leaderelection.NewLeaderHealthzAdaptor(time.Second) }
	go func() {
		ended <- Run(t.Context(), o, first, health(), works(working))
	}()
	<-working
	var ran atomic.Bool
	second, lock := election(t, client, "second")
	go func() {
		ended <- Run(ctx, second, lock, health(), func(context.Context) error { ran.Store(true); return nil })
	}()
	cancel()
	require.NoError(t, <-ended)
	require.False(t, ran.Load(), "only one works")
}

func TestLostLeaseEndsTheProgram(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	var silent atomic.Bool
	client.PrependReactor("*", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return silent.Load(), nil, errors.New("the API server does not answer")
	})
	o, lock := election(t, client, "first")
	working := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- Run(t.Context(), o, lock, leaderelection.NewLeaderHealthzAdaptor(time.Second), works(working))
	}()
	<-working
	silent.Store(true)
	require.ErrorIs(t, <-ended, ErrLost)
}

// Two programs take turns without waiting for a lease to expire, which takes longer than this test may.
func TestTheNextOneDoesNotWaitForTheLeaseToExpire(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	start := func(ctx context.Context, identity string, work func(context.Context) error) chan error {
		e, lock := election(t, client, identity)
		e.LeaseDuration, e.RenewDeadline = metav1.Duration{Duration: time.Hour}, metav1.Duration{Duration: time.Minute}
		ended := make(chan error, 1)
		go func() { ended <- Run(ctx, e, lock, nil, work) }()
		return ended
	}
	failure := errors.New("no configuration")
	require.ErrorIs(t, <-start(t.Context(), "fails", func(context.Context) error { return failure }), failure)

	ctx, stop := context.WithCancel(t.Context())
	working := make(chan struct{})
	ended := start(ctx, "first", works(working))
	<-working
	require.Equal(t, "first", *leaseOf(t, client).Spec.HolderIdentity)
	stop()
	require.NoError(t, <-ended)
	working = make(chan struct{})
	start(t.Context(), "second", works(working))
	<-working
}
