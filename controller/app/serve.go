// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
)

// serve serves health, and metrics unless they are guarded, until the context ends.
func serve(ctx context.Context, o *Options, synced func() bool, election *leaderelection.HealthzAdaptor) error {
	if o.HTTPAddress == "" {
		return nil
	}
	return listenAndServe(ctx, "--http-address", o.HTTPAddress, &http.Server{Handler: handler(synced, election, o.MetricsAddress == "")})
}

// listenAndServe serves at the address that a flag gives until the context ends, over TLS if the server has a configuration for it.
func listenAndServe(ctx context.Context, flag, address string, server *http.Server) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", flag, err)
	}
	klog.FromContext(ctx).Info("Serving", "flag", flag, "address", listener.Addr().String(), "tls", server.TLSConfig != nil)
	server.ReadHeaderTimeout = 10 * time.Second
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // the program ends, and no client waits for an answer
	defer stop()
	if server.TLSConfig != nil {
		err = server.ServeTLS(listener, "", "")
	} else {
		err = server.Serve(listener)
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving %s: %w", flag, err)
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
		fmt.Fprintln(w, "ok") //nolint:errcheck // the client has gone
	})
}

// reviewTimeout is how long the API server may take to review a user who requests metrics.
const reviewTimeout = 10 * time.Second

// serveMetrics serves /metrics over TLS, to users whom the API server authenticates and authorizes, until the context ends.
func serveMetrics(ctx context.Context, o *Options) error {
	if o.MetricsAddress == "" {
		return nil
	}
	// Not behind the guard, since a program that waits for the lease serves metrics too; and with few requests a second,
	// for all clients together.
	config, err := configOf(o)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 5, 10
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client to review users: %w", err)
	}
	certificate, err := selfSigned()
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", withAuth(kube, legacyregistry.Handler()))
	return listenAndServe(ctx, "--metrics-address", o.MetricsAddress, &http.Server{Handler: mux, TLSConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate},
	}})
}

// selfSigned returns a certificate that encrypts connections, and that no client can verify.
func selfSigned() (tls.Certificate, error) {
	var pair tls.Certificate
	certificate, key, err := certutil.GenerateSelfSignedCertKey("localhost", nil, nil)
	if err == nil {
		pair, err = tls.X509KeyPair(certificate, key)
	}
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("creating a certificate for --metrics-address: %w", err)
	}
	return pair, nil
}

// withAuth serves requests whose bearer token the API server authenticates, and whose user has permission for the URL, as
// Kubernetes' own components do. It does not cache reviews: Prometheus sends two requests a minute.
func withAuth(kube kubernetes.Interface, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), reviewTimeout)
		defer cancel()
		user, err := authenticate(ctx, kube, r)
		if err != nil {
			klog.FromContext(ctx).V(3).Info("Refused metrics", "err", err)
			http.Error(w, "send a bearer token that this cluster's API server knows", http.StatusUnauthorized)
			return
		}
		if err := authorize(ctx, kube, user, r); err != nil {
			klog.FromContext(ctx).V(3).Info("Refused metrics", "user", user.Username, "err", err)
			http.Error(w, user.Username+" may not get the URL "+r.URL.Path, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// authenticate returns the user of the request's bearer token.
func authenticate(ctx context.Context, kube kubernetes.Interface, r *http.Request) (*authenticationv1.UserInfo, error) {
	token, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !isBearer || token == "" {
		return nil, errors.New("there is no bearer token")
	}
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	review, err := kube.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("reviewing a token: %w", err)
	}
	if !review.Status.Authenticated {
		return nil, errors.New("the API server does not know the token")
	}
	return &review.Status.User, nil
}

// authorize returns an error if a user has no permission for the request's URL.
func authorize(ctx context.Context, kube kubernetes.Interface, user *authenticationv1.UserInfo, r *http.Request) error {
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: r.URL.Path, Verb: strings.ToLower(r.Method)},
	}}
	review, err := kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("reviewing the permission of a user: %w", err)
	}
	if !review.Status.Allowed {
		return errors.New("permission denied")
	}
	return nil
}
