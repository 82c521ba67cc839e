// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/manifest"
)

// settings stand for those of the controller, which nobody here knows: it may have an etcd for elastic jobs, and what it
// refuses beyond this is told by the job's condition Stalled.
var settings = builder.Config{ElasticEtcd: "unknown:2379"}

// settle gives each job its namespace, and refuses jobs that cannot stand beside each other.
func settle(documents []manifest.Document, namespace string, enforced bool) error {
	where := map[string]string{}
	for _, d := range documents {
		switch {
		case d.Job.Namespace == "":
			d.Job.Namespace = namespace
		case enforced && d.Job.Namespace != namespace:
			return usage("%s: job %s is for namespace %s, and --namespace is %s: leave one out", d.Where, d.Job.Name, d.Job.Namespace, namespace)
		}
		if d.Job.Name == "" {
			continue
		}
		key := d.Job.Namespace + "/" + d.Job.Name
		if before, ok := where[key]; ok {
			return refused("nothing was submitted: %s and %s are both called %s", before, d.Where, key)
		}
		where[key] = d.Where
	}
	return nil
}

// check refuses what the controller would, and tells what it would warn of. Wishes are those of PodGroups of the users'
// own, by document, or nil.
func (s *session) check(documents []manifest.Document, wishes []builder.PodGroupOverrides) error {
	var errs []error
	for i, d := range documents {
		var wish builder.PodGroupOverrides
		if wishes != nil {
			wish = wishes[i]
		}
		job := named(d.Job)
		for _, n := range builder.Validate(job, wish, settings) {
			errs = append(errs, fmt.Errorf("%s: job %s: %s (%s)", d.Where, job.Name, n.Message, n.Reason))
		}
		if len(errs) > 0 {
			continue
		}
		_, warnings := builder.Job(job, wish, settings)
		for _, n := range warnings {
			s.note("Warning: job %s: %s (%s)", job.Name, n.Message, n.Reason)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return refused("nothing was submitted:\n%w", err)
	}
	return nil
}

// named is a job as it is once the API server has completed its name.
func named(job *v1.PaddleJob) *v1.PaddleJob {
	job = job.DeepCopy()
	if job.Name == "" && job.GenerateName != "" {
		job.Name = job.GenerateName + "xxxxx"
	}
	return job
}
