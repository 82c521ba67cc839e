// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/paddle-volcano/paddle-volcano/controller/leader"
)

func TestNothingIsWrittenWithoutALease(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	refuse := false
	client.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return refuse, nil, errors.New("the API server does not answer")
	})
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, "paddle-system", "paddlejob-controller", client.CoreV1(), client.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: "mine"})
	require.NoError(t, err)
	now := time.Unix(1000, 0)
	f := newLeaderWriteGuard(15 * time.Second)
	f.Interface, f.now = lock, func() time.Time { return now }

	sent := 0
	transport := f.wrap(roundTrip(func(*http.Request) (*http.Response, error) {
		sent++
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}))
	ask := func(method, path string) error {
		response, err := transport.RoundTrip(httptest.NewRequest(method, path, http.NoBody))
		if err == nil {
			err = response.Body.Close()
		}
		return err
	}
	writes := func() bool {
		t.Helper()
		require.NoError(t, ask(http.MethodGet, "/api/v1/pods"), "reads are not refused")
		require.NoError(t, ask(http.MethodPost, "/api/v1/namespaces/ml/events"), "events are not refused")
		before := sent
		err := ask(http.MethodPatch, "/api/v1/namespaces/ml/pods/a")
		if err != nil {
			require.ErrorIs(t, err, leader.ErrLost)
			require.Equal(t, before, sent)
		}
		return err == nil
	}
	record := func(holder string) resourcelock.LeaderElectionRecord {
		return resourcelock.LeaderElectionRecord{HolderIdentity: holder, LeaseDurationSeconds: 15}
	}
	renew := func(holder string) error {
		if _, _, err := lock.Get(t.Context()); err != nil {
			return err
		}
		return f.Update(t.Context(), record(holder))
	}

	require.False(t, writes(), "it has never led")
	require.NoError(t, f.Create(t.Context(), record("mine")))
	require.True(t, writes())
	now = now.Add(13 * time.Second)
	require.True(t, writes())
	require.NoError(t, renew("mine"))
	now = now.Add(13 * time.Second)
	require.True(t, writes(), "it was renewed")
	refuse = true
	require.Error(t, renew("mine"))
	require.True(t, writes(), "it has not run out")
	now = now.Add(time.Second)
	require.False(t, writes(), "another may have it by now, and this program does not know")
	refuse = false
	require.NoError(t, renew("mine"))
	require.True(t, writes())
	require.NoError(t, renew(""))
	require.False(t, writes(), "it was given back")
}

func TestShortLeases(t *testing.T) {
	t.Parallel()
	require.Equal(t, 14*time.Second, newLeaderWriteGuard(15*time.Second).validFor)
	require.Equal(t, 500*time.Millisecond, newLeaderWriteGuard(time.Second).validFor)
}
