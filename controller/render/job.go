// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// maxRetry is Volcano's own default for tasks, and has no effect there: no policy restarts a task.
const maxRetry int32 = 3

// Job renders the Volcano Job of a PaddleJob that Validate has nothing against, and tells what the user should know
// about it. Everything that Volcano's webhooks would default is written out, so that the Job means the same without them.
func Job(job *v1.PaddleJob, wish Wish, cfg Config) (*vcbatch.Job, []Notice) {
	told := jobNotices(job, wish, cfg)
	least := members(job, wish)
	queueName, _ := queue(job, wish)
	priority, _ := priorityClass(job, wish)
	var sum int64
	var tasks []vcbatch.TaskSpec
	for _, r := range roles(job) {
		template, notices := podTemplate(job, r, priority, least, cfg)
		told = append(told, notices...)
		tasks = append(tasks, task(job, r, least[r.name], template))
		sum += int64(least[r.name])
	}
	return &vcbatch.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: vcbatch.SchemeGroupVersion.String(), Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{
			Name:            job.Name,
			Namespace:       job.Namespace,
			Labels:          merged(unreserved(job.Labels), map[string]string{keys.JobName: job.Name, keys.ExcludeFromBackup: "true"}),
			Annotations:     jobAnnotations(job),
			OwnerReferences: []metav1.OwnerReference{ownedBy(job)},
		},
		Spec: vcbatch.JobSpec{
			SchedulerName:     cfg.scheduler(),
			Queue:             queueName,
			PriorityClassName: priority,
			MinAvailable:      int32(min(sum, math.MaxInt32)),
			MaxRetry:          unlimited,
			Tasks:             tasks,
			NetworkTopology:   topology(job),
			Policies:          jobPolicies(job),
			Plugins: map[string][]string{"svc": {
				// Peers look each other up before any of them is ready.
				"--publish-not-ready-addresses=true",
				// The plugin would let only the job's own pods in. paddle-operator had no such policy, and whoever scrapes
				// metrics or opens VisualDL from elsewhere must not lose that by moving here.
				"--disable-network-policy=true",
			}},
		},
	}, told
}

func task(job *v1.PaddleJob, r role, least int32, template corev1.PodTemplateSpec) vcbatch.TaskSpec {
	return vcbatch.TaskSpec{
		Name:         r.name,
		Replicas:     r.replicas(),
		MinAvailable: &least,
		MaxRetry:     maxRetry,
		Template:     template,
		Policies:     taskPolicies(job, r),
	}
}

func jobAnnotations(job *v1.PaddleJob) map[string]string {
	all := unreserved(job.Annotations)
	for _, key := range keys.OfUsers {
		if value, ok := job.Annotations[key]; ok {
			all[key] = value
		}
	}
	all = merged(merged(all, placementAnnotations(job)), map[string]string{
		keys.Mode:     string(Mode(job)),
		keys.SpecHash: SpecHash(job),
	})
	delete(all, corev1.LastAppliedConfigAnnotation)
	return all
}

func ownedBy(job *v1.PaddleJob) metav1.OwnerReference {
	return *metav1.NewControllerRef(job, v1.SchemeGroupVersion.WithKind(v1.Kind))
}

// unreserved is a new map without the keys of our prefix: what is kept under them is the controller's to write.
func unreserved(metadata map[string]string) map[string]string {
	all := maps.Clone(metadata)
	maps.DeleteFunc(all, func(key, _ string) bool { return strings.HasPrefix(key, keys.Prefix) })
	if all == nil {
		all = map[string]string{}
	}
	return all
}

// merged is a new map of both; ours win.
func merged(theirs, ours map[string]string) map[string]string {
	all := make(map[string]string, len(theirs)+len(ours))
	maps.Copy(all, theirs)
	maps.Copy(all, ours)
	return all
}
