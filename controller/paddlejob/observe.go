// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/legacy"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
)

// read gathers what the caches hold of a PaddleJob, nil if it is gone.
func (c *Controller) read(ctx context.Context, namespace, name, key string) (*observed.State, error) {
	job, err := c.jobs.PaddleJobs(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // a job that is gone is no error
	}
	if err != nil {
		return nil, fmt.Errorf("reading the PaddleJob from the cache: %w", err)
	}
	if ptr.Deref(job.Spec.ManagedBy, v1.ManagedByController) != v1.ManagedByController {
		return nil, nil //nolint:nilnil // another controller runs it
	}
	job, _ = c.mutatedJobs.newest(key, job, true, c.now())
	obs := &observed.State{Now: c.now(), Job: job, Queue: c.findQueue, PriorityClassExists: c.priorityClassExists, TakenPorts: c.takenPorts(key)}

	cached, err := c.volcanoJobs.Jobs(namespace).Get(name)
	if found, ok := c.mutatedVolcanoJobs.newest(key, cached, err == nil, obs.Now); ok {
		if !metav1.IsControlledBy(found, job) {
			obs.NameConflicts = append(obs.NameConflicts, nameConflict(job, "Volcano Job", found))
		} else if obs.VolcanoJob = found; found.Labels[v1.JobNameLabel] == "" {
			if err := c.restoreLabel(ctx, obs); err != nil {
				return nil, err
			}
		}
	}
	if err := c.observePods(obs, key); err != nil {
		return nil, err
	}
	if obs.VolcanoJob != nil {
		if failure, ok := c.failures.get(string(obs.VolcanoJob.UID)); ok {
			obs.Failure = &failure
		}
		sent, _ := c.unacknowledged.get(volcano.JobState(obs.VolcanoJob))
		obs.UnacknowledgedFor = sent.UnacknowledgedFor(obs.Now)
		earlier, ok := c.sentCommands.get(key + " " + string(observed.CommandOf[obs.Phase()]))
		obs.EarlierCommand = ok && earlier.Ended(obs.VolcanoJob)
		groupName := volcano.PodGroupName(obs.VolcanoJob)
		cached, err := c.podGroups.PodGroups(namespace).Get(groupName)
		if found, ok := c.mutatedPodGroups.newest(namespace+"/"+groupName, cached, err == nil, obs.Now); ok {
			obs.PodGroup = found
		}
		c.observeMissingPods(ctx, obs)
		c.observeMounts(ctx, obs)
	}
	cm, err := c.configMaps.ConfigMaps(namespace).Get(name)
	if found, ok := c.mutatedEnvironments.newest(key, cm, err == nil, obs.Now); ok && metav1.IsControlledBy(found, job) {
		obs.Environment = found
	}
	c.observeNamesake(obs)
	if d, ok := c.deletions.get(key); ok {
		obs.NameReservedFor = d.Remaining(c.now())
	}
	if obs.VolcanoJob == nil && job.DeletionTimestamp == nil {
		return obs, c.observeUncached(ctx, obs)
	}
	return obs, nil
}

// observePods sorts the pods with the job's name into its own, paddle-operator's and those of a predecessor.
func (c *Controller) observePods(obs *observed.State, key string) error {
	objects, err := c.pods.ByIndex(jobIndex, key)
	if err != nil {
		return fmt.Errorf("reading pods from the cache: %w", err)
	}
	for _, object := range objects {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return unexpected(object)
		}
		switch {
		case obs.VolcanoJob != nil && metav1.IsControlledBy(pod, obs.VolcanoJob):
			obs.Pods = append(obs.Pods, pod)
		case metav1.IsControlledBy(pod, obs.Job):
			obs.Operator.Pods = append(obs.Operator.Pods, pod)
		default:
			obs.Predecessors = append(obs.Predecessors, pod)
		}
	}
	observed.SortPods(obs.Pods)
	observed.SortPods(obs.Operator.Pods)
	observed.SortPods(obs.Predecessors)
	return nil
}

// observeNamesake reads the PodGroup of the PaddleJob's own name: paddle-operator's, or one that the user made.
func (c *Controller) observeNamesake(obs *observed.State) {
	group, err := c.podGroups.PodGroups(obs.Job.Namespace).Get(obs.Job.Name)
	if err != nil || group.DeletionTimestamp != nil {
		return
	}
	if metav1.IsControlledBy(group, obs.Job) {
		obs.Operator.PodGroup = group
	} else if metav1.GetControllerOf(group) == nil {
		obs.UserPodGroup = group
	}
}

func (c *Controller) findQueue(name string) *vcscheduling.Queue {
	queue, _ := c.queues.Get(name) // nil if there is none
	return queue
}

func (c *Controller) priorityClassExists(name string) bool {
	_, err := c.priorityClasses.Get(name)
	return err == nil
}

// nameConflict describes an object with the name of one that the job needs. The garbage collector deletes what belonged to
// an earlier PaddleJob of the name.
func nameConflict(job *v1.PaddleJob, kind string, object metav1.Object) observed.NameConflict {
	owner := metav1.GetControllerOf(object)
	inherited := owner != nil && owner.Name == job.Name && owner.UID != job.UID &&
		(owner.Kind == v1.Kind || owner.Kind == "Job")
	return observed.NameConflict{
		Kind: kind, Name: object.GetName(), Terminating: object.GetDeletionTimestamp() != nil || inherited,
	}
}

// observeUncached reads from the API server what is needed only before a Volcano Job is created, and what is too much to watch.
func (c *Controller) observeUncached(ctx context.Context, obs *observed.State) (err error) {
	if observed.Finished(obs.Job) {
		if recorded(obs.Job) {
			return nil
		}
		obs.Operator.Services, err = c.operatorServices(ctx, obs.Job)
		return err
	}
	if observed.SuspendSet(obs.Job) && obs.Operator.Empty() {
		return nil // nothing is made
	}
	// A cached job may be older than its end, and a finished one must never start again.
	fresh, err := c.clients.Paddle.BatchV1().PaddleJobs(obs.Job.Namespace).Get(ctx, obs.Job.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the PaddleJob: %w", err)
	}
	if fresh.UID != obs.Job.UID {
		return fmt.Errorf("the PaddleJob was replaced: %w", errStale)
	}
	obs.Job = fresh
	for _, read := range []func(context.Context, *observed.State) error{c.readNamespaceQueue, c.readTrainingConfig, c.readConfigMap, c.readNameService} {
		if err := read(ctx, obs); err != nil {
			return err
		}
	}
	if !obs.Operator.Empty() || legacy.HasFinalizer(obs.Job) {
		obs.Operator.Services, err = c.operatorServices(ctx, obs.Job)
	}
	return err
}

// operatorServices returns the Services that paddle-operator gave each pod of a job; it put no label on them.
func (c *Controller) operatorServices(ctx context.Context, job *v1.PaddleJob) (services []*corev1.Service, err error) {
	list, err := c.clients.Kube.CoreV1().Services(job.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing paddle-operator's Services: %w", err)
	}
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], job) {
			services = append(services, &list.Items[i])
		}
	}
	return services, nil
}

// recorded reports whether a finished job's end was written by this controller: paddle-operator wrote no conditions.
func recorded(job *v1.PaddleJob) bool { return len(job.Status.Conditions) > 0 }

// readNamespaceQueue reads the annotation by which Volcano's webhook chooses the queue of PodGroups that name none.
func (c *Controller) readNamespaceQueue(ctx context.Context, obs *observed.State) error {
	if policy := obs.Job.Spec.SchedulingPolicy; policy != nil && policy.Queue != "" {
		return nil // it is ignored
	}
	namespace, err := c.clients.Kube.CoreV1().Namespaces().Get(ctx, obs.Job.Namespace, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the namespace for its queue: %w", err)
	}
	obs.NamespaceQueue = namespace.Annotations[vcscheduling.QueueNameAnnotationKey]
	return nil
}

// readTrainingConfig reads the training YAML that has the degrees of parallelism. ConfigMaps of users' own are not watched.
func (c *Controller) readTrainingConfig(ctx context.Context, obs *observed.State) error {
	p := obs.Job.Spec.Parallelism
	if p == nil || p.ConfigMapKeyRef == nil {
		return nil
	}
	cm, err := c.clients.Kube.CoreV1().ConfigMaps(obs.Job.Namespace).Get(ctx, p.ConfigMapKeyRef.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the ConfigMap of spec.parallelism.configMapKeyRef: %w", err)
	}
	if text, ok := cm.Data[p.ConfigMapKeyRef.Key]; ok {
		obs.TrainingConfig = &text
	}
	return nil
}

func (c *Controller) readConfigMap(ctx context.Context, obs *observed.State) error {
	if obs.Environment != nil {
		return nil
	}
	cm, err := c.clients.Kube.CoreV1().ConfigMaps(obs.Job.Namespace).Get(ctx, obs.Job.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("reading the ConfigMap of the job's name: %w", err)
	case !metav1.IsControlledBy(cm, obs.Job):
		obs.NameConflicts = append(obs.NameConflicts, nameConflict(obs.Job, "ConfigMap", cm))
	case cm.Labels[v1.JobNameLabel] != "":
		obs.Environment = cm
	default:
		obs.Operator.Environment = cm
	}
	return nil
}

// readNameService looks for a Service with the name of the one that gives the pods their names; Volcano would adopt it
// without an error, and no name would resolve.
func (c *Controller) readNameService(ctx context.Context, obs *observed.State) error {
	if builder.Intranet(obs.Job, c.options.Render) != v1.Service {
		return nil
	}
	service, err := c.clients.Kube.CoreV1().Services(obs.Job.Namespace).Get(ctx, obs.Job.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the Service of the job's name: %w", err)
	}
	obs.NameConflicts = append(obs.NameConflicts, nameConflict(obs.Job, "Service", service))
	return nil
}

// noteFailure remembers which pod ended an attempt of a gang: Volcano deletes it within milliseconds, and the user wants to know. A
// controller that was restarted meanwhile does without. It may be a pod that failed, or one that was evicted or deleted by
// a program or user other than Volcano. The first of an attempt stays, but for a lost node, which shows late; the failure of a pod that
// was being stopped is the cause only if no other is.
func noteFailure(failures *memory[observed.Failure], pod *corev1.Pod, deleted bool) {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != "Job" {
		return
	}
	failure := observed.Failure{ByVolcano: pod.Annotations[v1.OutOfSyncAnnotation] != ""}
	since, disrupted := observed.Disruption(pod)
	lost := disrupted && since.IsZero()
	switch phase := pod.Status.Phase; {
	case phase == corev1.PodFailed && (failure.ByVolcano || !disrupted):
		failure.Reason, failure.Message = observed.ReasonPodFailed, observed.TerminationMessage(pod)
	case !failure.ByVolcano && (disrupted || deleted && phase != corev1.PodSucceeded):
		failure.Reason, failure.Message = observed.ReasonPodEvicted, eviction(pod)
	default:
		return
	}
	attempt, ok := observed.Attempt(pod)
	if !ok {
		return
	}
	failure.Attempt = attempt
	if known, ok := failures.get(string(owner.UID)); !ok || known.Attempt < failure.Attempt || known.Attempt == failure.Attempt && (known.ByVolcano && !failure.ByVolcano || lost) {
		failures.put(string(owner.UID), failure)
	}
}

func eviction(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return pod.Name + " was evicted: " + c.Reason + " " + c.Message
		}
	}
	return pod.Name + " was deleted or evicted"
}
