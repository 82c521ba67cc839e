// SPDX-License-Identifier: Apache-2.0

package vcjob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	vcfake "volcano.sh/apis/pkg/client/clientset/versioned/fake"
	vcinformers "volcano.sh/apis/pkg/client/informers/externalversions"
	"volcano.sh/volcano/pkg/controllers/framework"
	_ "volcano.sh/volcano/pkg/controllers/job" // registers the Job controller
)

// Controller is Volcano's Job controller, running.
type Controller struct {
	Kube    *kubefake.Clientset
	Volcano *vcfake.Clientset
}

// limit is how long a step of Volcano's may take; the usual is a few milliseconds.
const limit = time.Minute

// Shared starts the controller when first called, with the queue "default" and the PriorityClasses low, medium and high
// (10, 100 and 1000), and returns it ever after. It runs until the process ends: Volcano registers one Job controller
// per process.
var Shared = sync.OnceValues(start)

func start() (*Controller, error) {
	// Volcano logs each step; its errors still go to stderr.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	priorities := []*schedulingv1.PriorityClass{priority("low", 10), priority("medium", 100), priority("high", 1000)}
	kube := kubefake.NewClientset(priorities[0], priorities[1], priorities[2])
	volcano := vcfake.NewSimpleClientset(&scheduling.Queue{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	options := &framework.ControllerOption{
		KubeClient: kube, SharedInformerFactory: informers.NewSharedInformerFactory(kube, 0),
		VolcanoClient: volcano, VCSharedInformerFactory: vcinformers.NewSharedInformerFactory(volcano, 0),
		WorkerNum: 4, MaxRequeueNum: 15,
	}
	err := errors.New("no job-controller is registered in this build")
	framework.ForeachController(func(c framework.Controller) {
		if c.Name() != "job-controller" {
			return
		}
		if err = c.Initialize(options); err == nil {
			c.Run(context.Background().Done())
		}
	})
	if err != nil {
		return nil, fmt.Errorf("start Volcano's Job controller: %w", err)
	}
	return &Controller{Kube: kube, Volcano: volcano}, nil
}

func priority(name string, value int32) *schedulingv1.PriorityClass {
	return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
}

// UID returns what [Controller.Create] gives to a job of this name, so that the name of its PodGroup is known before.
func UID(job string) types.UID { return types.UID("uid-of-" + job) }

// Create submits the job, and gives it what an API server would.
func (c *Controller) Create(ctx context.Context, job *vcbatch.Job) (*vcbatch.Job, error) {
	job = job.DeepCopy()
	job.UID, job.ResourceVersion = UID(job.Name), "1"
	created, err := c.Volcano.BatchV1alpha1().Jobs(job.Namespace).Create(ctx, job, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("submit Volcano Job %s: %w", job.Name, err)
	}
	return created, nil
}

// PodGroup waits for the job's PodGroup, which either controller may have created.
func (c *Controller) PodGroup(ctx context.Context, job *vcbatch.Job) (group *scheduling.PodGroup, err error) {
	name := job.Name + "-" + string(job.UID)
	err = until(ctx, "PodGroup "+name, func(ctx context.Context) (bool, error) {
		group, err = c.Volcano.SchedulingV1beta1().PodGroups(job.Namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	return group, err
}

// Pods lets the job into its queue, as the scheduler would, and waits for all its pods and its Service. Each pod gets
// a different IP, in the order of their names as Volcano numbers them.
func (c *Controller) Pods(ctx context.Context, job *vcbatch.Job) (pods []*corev1.Pod, services []*corev1.Service, err error) {
	// A PodGroup that changes before the controller knows the job is an error to it.
	err = until(ctx, "Volcano Job "+job.Name, func(ctx context.Context) (bool, error) {
		seen, err := c.Volcano.BatchV1alpha1().Jobs(job.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
		return err == nil && seen.Status.State.Phase != "", err
	})
	if err != nil {
		return nil, nil, err
	}
	group, err := c.PodGroup(ctx, job)
	if err != nil {
		return nil, nil, err
	}
	group.Status.Phase = scheduling.PodGroupInqueue
	if _, err = c.Volcano.SchedulingV1beta1().PodGroups(job.Namespace).UpdateStatus(ctx, group, metav1.UpdateOptions{}); err != nil {
		return nil, nil, fmt.Errorf("let Volcano Job %s into its queue: %w", job.Name, err)
	}
	var names []string
	for _, task := range job.Spec.Tasks {
		for i := range task.Replicas {
			names = append(names, fmt.Sprintf("%s-%s-%d", job.Name, task.Name, i))
		}
	}
	for i, name := range names {
		var pod *corev1.Pod
		err = until(ctx, "pod "+name, func(ctx context.Context) (bool, error) {
			pod, err = c.Kube.CoreV1().Pods(job.Namespace).Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return false, nil
			}
			return err == nil, err
		})
		if err != nil {
			return nil, nil, err
		}
		pod.Status.PodIP = fmt.Sprintf("10.0.%d.%d", i/250, i%250+1)
		pods = append(pods, pod)
	}
	list, err := c.Kube.CoreV1().Services(job.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("list Services: %w", err)
	}
	for i := range list.Items {
		services = append(services, &list.Items[i])
	}
	return pods, services, nil
}

func until(ctx context.Context, what string, done wait.ConditionWithContextFunc) error {
	if err := wait.PollUntilContextTimeout(ctx, 2*time.Millisecond, limit, true, done); err != nil {
		return fmt.Errorf("wait for %s of Volcano's Job controller: %w", what, err)
	}
	return nil
}
