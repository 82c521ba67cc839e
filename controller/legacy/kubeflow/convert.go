// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// Conversion is a job of Kubeflow's as a PaddleJob.
type Conversion struct {
	// Job is the PaddleJob, nil if Refused says why there is none.
	Job *batchv1.PaddleJob
	// Refused is what the user has to change.
	Refused []builder.Cause
	// Warnings is what has another effect than under Kubeflow.
	Warnings []builder.Cause
}

// Convert makes a PaddleJob of a job of Kubeflow's. What is refused of every PaddleJob is not looked at here. Etcd says
// whether there is one in which elastic workers can meet.
func Convert(job *kubeflowv1.PaddleJob, etcd bool) Conversion {
	var f conversionResult
	if len(validation.IsDNS1035Label(job.Name)) > 0 {
		f.refuse(ReasonInvalidName, "metadata.name %q cannot be the name of the job's Service: use at most 63 lower case letters, "+
			"digits and '-', beginning with a letter and not ending with '-'", job.Name)
	}
	found := f.rolesOf(job)
	made := &batchv1.PaddleJob{ObjectMeta: metav1.ObjectMeta{
		Name:            job.Name,
		Namespace:       job.Namespace,
		Labels:          with(job.Labels, map[string]string{keys.KubeflowJob: job.Name}),
		Annotations:     with(job.Annotations, nil),
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, kubeflowv1.SchemeGroupVersion.WithKind(kubeflowv1.Kind))},
	}}
	delete(made.Annotations, corev1.LastAppliedConfigAnnotation)
	spec, run := &made.Spec, &job.Spec.RunPolicy
	spec.CleanPodPolicy = f.cleanPodPolicy(run)
	spec.RunPolicy = f.runPolicy(run, found)
	spec.SchedulingPolicy = f.schedulingPolicy(run)
	least, most, elastic := f.elastic(job, found, etcd)
	if found.master != nil {
		spec.PS = &batchv1.ResourceSpec{Replicas: size(found.master), Template: f.template(kubeflowv1.Master, found.master,
			variables(job.Name, kubeflowv1.Master, found, elastic), job.Name)}
	}
	if found.worker != nil {
		spec.Worker = &batchv1.ResourceSpec{Replicas: size(found.worker), Template: f.template(kubeflowv1.Worker, found.worker,
			variables(job.Name, kubeflowv1.Worker, found, elastic), job.Name)}
	}
	if elastic {
		spec.Elastic = ptr.To[int32](1) // a release that set elasticPolicy would change the specs of jobs that run
		spec.Worker.Requests, spec.Worker.Limits = ptr.To(least), ptr.To(most)
		if restarts := job.Spec.ElasticPolicy.MaxRestarts; restarts != nil {
			spec.ElasticPolicy = &batchv1.ElasticPolicy{MaxRestarts: restarts}
		}
	}
	if len(f.refused) > 0 {
		return Conversion{Refused: f.refused}
	}
	return Conversion{Job: made, Warnings: f.warnings}
}

// with is a new map of both; ours win.
func with(theirs, ours map[string]string) map[string]string {
	all := make(map[string]string, len(theirs)+len(ours))
	maps.Copy(all, theirs)
	maps.Copy(all, ours)
	return all
}
