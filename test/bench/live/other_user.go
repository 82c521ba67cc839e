// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
)

// Answers are how long another user waits for the API server, in seconds.
type Answers struct {
	Write times.Wait `json:"write_s"`
	Read  times.Wait `json:"read_s"`
	// Requests were answered; Failed ones are in no wait.
	Requests int `json:"requests"`
	Failed   int `json:"failed"`
}

const (
	// otherUser is the namespace of another user, and account its service account.
	otherUser = "another-user"
	account   = "default"
	// askEvery is how often the user writes and reads a ConfigMap, and answerWithin how long the client waits for an answer.
	askEvery     = 100 * time.Millisecond
	answerWithin = time.Minute
	// configMaps are as many as are written within that time. Writes of the same one at the same time would conflict, and delay each other.
	configMaps = int(answerWithin / askEvery)
)

// configMap names the one of a request.
func configMap(request int) string { return fmt.Sprintf("c%d", request%configMaps) }

// addUser returns the client of another user. The API server queues the requests of a service account with those of the scheduler, and
// an administrator's not at all. They have a connection of their own and no limit on their rate.
func (at *site) addUser(ctx context.Context) (corev1client.ConfigMapInterface, error) {
	if err := at.MakeNamespace(ctx, otherUser); err != nil {
		return nil, err
	}
	meta := metav1.ObjectMeta{Name: account}
	if _, err := at.Kube.RbacV1().RoleBindings(otherUser).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: otherUser, Name: account}},
	}, metav1.CreateOptions{}); err != nil {
		return nil, fmt.Errorf("give another user permissions: %w", err)
	}
	requests, side := errgroup.WithContext(ctx)
	requests.SetLimit(atOnce)
	for n := range configMaps {
		requests.Go(func() error {
			own := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: configMap(n)}}
			_, err := at.Kube.CoreV1().ConfigMaps(otherUser).Create(side, own, metav1.CreateOptions{})
			return err
		})
	}
	if err := requests.Wait(); err != nil {
		return nil, fmt.Errorf("create another user's ConfigMaps: %w", err)
	}
	config := at.RESTConfig()
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + otherUser + ":" + account}
	config.Dial, config.Timeout = (&net.Dialer{}).DialContext, answerWithin
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for another user: %w", err)
	}
	return client.CoreV1().ConfigMaps(otherUser), nil
}

// ask writes and reads at a fixed rate until asking ends, however long answers take, and sends how long they took.
func ask(ctx, asking context.Context, own corev1client.ConfigMapInterface, result chan<- Answers) {
	var all answers
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-asking.Done():
			result <- all.sum()
			return
		case <-tick.C:
		}
		text := fmt.Sprintf(`{"data":{"n":"%d"}}`, n)
		all.measure(&all.writes, func() error {
			_, err := own.Patch(ctx, configMap(n), types.MergePatchType, []byte(text), metav1.PatchOptions{})
			return err
		})
		all.measure(&all.reads, func() error {
			_, err := own.Get(ctx, configMap(n), metav1.GetOptions{})
			return err
		})
	}
}

// answers collects how long requests took.
type answers struct {
	mu            sync.Mutex
	open          sync.WaitGroup
	writes, reads []float64
	failed        int
}

// measure makes a request and adds how long it took.
func (a *answers) measure(to *[]float64, request func() error) {
	a.open.Add(1)
	began := time.Now()
	go func() {
		defer a.open.Done()
		err := request()
		took := time.Since(began).Seconds()
		a.mu.Lock()
		defer a.mu.Unlock()
		if err != nil {
			a.failed++
			return
		}
		*to = append(*to, took)
	}()
}

// sum waits for the answers.
func (a *answers) sum() Answers {
	a.open.Wait()
	return Answers{Write: times.WaitOf(a.writes), Read: times.WaitOf(a.reads), Requests: len(a.writes) + len(a.reads), Failed: a.failed}
}
