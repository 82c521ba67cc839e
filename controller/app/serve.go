// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
)

// serve serves health, and metrics unless they are guarded, until the context ends.
func serve(ctx context.Context, o *Options, synced func() bool, election *leaderelection.HealthzAdaptor) error {
	if o.HTTPAddress == "" {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.HTTPAddress)
	if err != nil {
		return fmt.Errorf("listening on --http-address: %w", err)
	}
	klog.FromContext(ctx).Info("Serving /healthz and /readyz", "address", listener.Addr().String())
	server := &http.Server{Handler: handler(synced, election, o.MetricsAddress == ""), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // the program ends, and nobody waits for an answer
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving --http-address: %w", err)
	}
	return nil
}

func handler(synced func() bool, election *leaderelection.HealthzAdaptor, openMetrics bool) http.Handler {
	mux := http.NewServeMux()
	if openMetrics {
		mux.Handle("GET /metrics", legacyregistry.Handler())
	}
	mux.Handle("GET /healthz", answer(func(r *http.Request) error { return election.Check(r) }))
	mux.Handle("GET /readyz", answer(func(*http.Request) error {
		if !synced() {
			return errors.New("the caches are not filled yet: are the CRDs of PaddleJob and Volcano installed?")
		}
		return nil
	}))
	return mux
}

func answer(check func(*http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := check(r); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok") //nolint:errcheck // the one who asked has gone
	})
}
