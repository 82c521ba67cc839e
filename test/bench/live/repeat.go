// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/limit"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// client is the limits': the scheduler's own name and encoding (JSON), and no limit on how often it asks. It comes with the
// objects that there are now.
func (at *site) client(ctx context.Context) (rest.Interface, limit.Known, error) {
	config, err := clientcmd.BuildConfigFromFlags("", at.ComponentKubeconfig(sandbox.Scheduler))
	if err != nil {
		return nil, nil, fmt.Errorf("make a client for the limits: %w", err)
	}
	config.QPS = -1
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("make a client for the limits: %w", err)
	}
	known := limit.Known{}
	pods, err := at.Kube.CoreV1().Pods(load.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("list the pods to bind: %w", err)
	}
	for i := range pods.Items {
		known["pods/"+pods.Items[i].Name] = pods.Items[i].ObjectMeta
	}
	groups, err := at.Volcano.SchedulingV1beta1().PodGroups(load.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("list the PodGroups to write: %w", err)
	}
	for i := range groups.Items {
		known["podgroups/"+groups.Items[i].Name] = groups.Items[i].ObjectMeta
	}
	queues, err := at.Volcano.SchedulingV1beta1().Queues().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("list the queues to write: %w", err)
	}
	for i := range queues.Items {
		known["queues/"+queues.Items[i].Name] = queues.Items[i].ObjectMeta
	}
	return kube.CoreV1().RESTClient(), known, nil
}
