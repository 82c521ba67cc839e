// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// allowLeases lets controllers elect a leader in the namespace of each scenario; the shipped permissions are for one lease only.
func allowLeases(p *live.Plane) error {
	ctx, name := context.Background(), "leases-of-faults"
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create", "get", "update"},
	}}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "system:serviceaccounts:paddle-system"}},
	}
	if _, err := p.Kube.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("allow leases: %w", err)
	}
	if _, err := p.Kube.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("allow leases: %w", err)
	}
	return nil
}

func electionIn(namespace string) []string {
	return []string{
		"--leader-elect=true", "--leader-elect-resource-namespace=" + namespace,
		// Long enough for a slow machine: a leader that is only late must not end.
		"--leader-elect-lease-duration=10s", "--leader-elect-renew-deadline=8s", "--leader-elect-retry-period=500ms",
	}
}

// works is in the log of a controller that leads.
const works = "Starting workers for PaddleJobs"

// The leader is stopped in the midst of a write. Another takes over and does that write itself; then the stopped one's
// write arrives, late, and it wakes. It has to end, without any further write, and the scenario ends as the undisturbed one.
// It is stopped at each kind of write of a scenario once, and with TEST_ALL at every write of all scenarios.
func TestLeaderIsStopped(t *testing.T) {
	t.Parallel()
	for _, l := range someScenarios("retried") {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			calm := l.undisturbed(t)
			numbers := l.kinds(t)
			if thorough {
				numbers = nil
				for i := range calm.writes {
					numbers = append(numbers, i+1)
				}
			}
			for _, n := range numbers {
				t.Run(fmt.Sprintf("%d %s", n, calm.writes[n-1]), func(t *testing.T) {
					t.Parallel()
					l.stoppedAt(t, calm, n)
				})
			}
		})
	}
}

func (l *scenario) stoppedAt(t *testing.T, calm *past, n int) {
	t.Helper()
	space := cluster.NamespaceNamed(t, fmt.Sprintf("stopped-%s-%d", l.name, n))
	first := startController(t, space, space+"-first", electionIn(space)...)
	first.awaitLeading(t.Context(), t)
	second := startController(t, space, space+"-second", electionIn(space)...)
	sleeper := &sleeper{first: first, at: n, taken: make(chan struct{})}
	first.from(sleeper.inject)
	var once sync.Once
	second.from(func(c *call, w http.ResponseWriter, r *http.Request, api http.Handler) {
		api.ServeHTTP(w, r)
		if c.write {
			once.Do(func() { close(sleeper.taken) })
		}
	})
	l.runLike(&driver{t: t, namespace: space}, calm)
	sleeper.judge(t)
}

func (c *controller) awaitLeading(ctx context.Context, t *testing.T) {
	t.Helper()
	require.NoError(t, c.leads(ctx))
}

// leads waits until the controller leads.
func (c *controller) leads(ctx context.Context) error {
	return cluster.Until(ctx, c.name+" to lead", func(context.Context) error {
		said, err := c.says(works)
		if err == nil && !said {
			err = errors.New("it does not say so")
		}
		return err
	})
}

// sleeper stops one controller at a write until another has done it.
type sleeper struct {
	first *controller
	at    int
	// taken is closed when the second controller has written. The late write arrives then: much later, Volcano
	// would execute a late command about an attempt that has ended already, and the gang would start once more.
	taken chan struct{}

	mu      sync.Mutex
	slept   bool
	awake   bool
	answer  string
	further []string
	err     error
}

func (s *sleeper) inject(c *call, w http.ResponseWriter, r *http.Request, api http.Handler) {
	s.mu.Lock()
	awake := s.awake
	s.mu.Unlock()
	switch {
	case c.number == s.at:
		s.sleep(w, r, api)
	case awake && c.write:
		answer := httptest.NewRecorder()
		api.ServeHTTP(answer, r)
		s.mu.Lock()
		s.further = append(s.further, fmt.Sprintf("%s: %d", c.words, answer.Code))
		s.mu.Unlock()
		panic(http.ErrAbortHandler)
	default:
		api.ServeHTTP(w, r)
	}
}

// sleep stops the first controller while its write is on its way, until the second has written too.
func (s *sleeper) sleep(w http.ResponseWriter, r *http.Request, api http.Handler) {
	// The connection stays, and with it the request, until the write arrives.
	ctx := context.WithoutCancel(r.Context())
	err := cluster.Kill(s.first.name, syscall.SIGSTOP)
	if err == nil {
		select {
		case <-s.taken:
		case <-time.After(patience):
			err = fmt.Errorf("the second controller has not written for %s", patience)
		}
	}
	late := httptest.NewRecorder()
	api.ServeHTTP(late, r.WithContext(ctx))
	s.mu.Lock()
	s.slept, s.awake, s.err = true, true, err
	s.answer = fmt.Sprintf("%s %d", r.Method, late.Code)
	s.mu.Unlock()
	for name, values := range late.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(late.Code)
	_, _ = w.Write(late.Body.Bytes()) // it sleeps
	if err := cluster.Kill(s.first.name, syscall.SIGCONT); err != nil {
		s.mu.Lock()
		s.err = errors.Join(s.err, err)
		s.mu.Unlock()
	}
}

func (s *sleeper) judge(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	slept := s.slept
	s.mu.Unlock()
	if !slept {
		t.Logf("there were %d writes", len(s.first.written()))
		return
	}
	require.NoError(t, cluster.AwaitEnd(t.Context(), s.first.name))
	s.mu.Lock()
	defer s.mu.Unlock()
	require.NoError(t, s.err)
	t.Logf("the late write was answered %s; further ones: %v", s.answer, s.further)
	require.Empty(t, s.further, "a leader that has lost the lease writes no more")
}
