// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	componentbase "k8s.io/component-base/config"
)

// Two schedulers take turns without waiting for a lease to expire, which takes longer than this test may.
func TestLeadReleasesTheLease(t *testing.T) {
	client := fake.NewClientset()
	election := componentbase.LeaderElectionConfiguration{
		LeaseDuration: metav1.Duration{Duration: time.Hour}, RenewDeadline: metav1.Duration{Duration: time.Minute}, RetryPeriod: metav1.Duration{Duration: 10 * time.Millisecond},
	}
	start := func(ctx context.Context, identity string, failure error) (leads chan struct{}, ended chan error) {
		lock, err := resourcelock.New(resourcelock.LeasesResourceLock, "volcano-system", "volcano", client.CoreV1(), client.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: identity})
		require.NoError(t, err)
		leads, ended = make(chan struct{}), make(chan error, 1)
		go func() {
			ended <- lead(ctx, election, lock, func() error {
				close(leads)
				if failure == nil {
					<-ctx.Done()
				}
				return failure
			})
		}()
		return leads, ended
	}
	failure := errors.New("no configuration")
	_, ended := start(t.Context(), "fails", failure)
	require.ErrorIs(t, <-ended, failure)

	ctx, stop := context.WithCancel(t.Context())
	leads, ended := start(ctx, "first", nil)
	<-leads
	waiting, endWaiting := context.WithCancel(t.Context())
	_, waits := start(waiting, "waits", nil)
	endWaiting()
	require.NoError(t, <-waits, "a scheduler that waits ends at once")
	lease, err := client.CoordinationV1().Leases("volcano-system").Get(t.Context(), "volcano", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "first", *lease.Spec.HolderIdentity)

	stop()
	require.NoError(t, <-ended)
	leads, _ = start(t.Context(), "second", nil)
	<-leads
}
