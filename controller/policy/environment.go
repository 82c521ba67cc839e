// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// environment keeps the ConfigMap that the pods' containers wait for.
func (p *Plan) environment(v *view.View, cfg render.Config) {
	if v.Succeeded() {
		return // servers on their way out are no reason to withdraw anything
	}
	if intranetOf(v, cfg) == v1.Service {
		if WantsPodGroup(v.VolcanoJob.Status.State.Phase) && !specChanged(v) {
			p.serviceEnvironment(v, cfg)
		}
		return
	}
	switch phase := v.VolcanoJob.Status.State.Phase; {
	case WantsPodGroup(phase):
		p.addressEnvironment(v, cfg)
	case phase == vcbatch.Restarting || phase == vcbatch.Aborting || phase == vcbatch.Aborted:
		// No pod that comes next may read the addresses of the dead.
		if v.Environment != nil {
			p.remove(KindConfigMap, v.Environment)
		}
	}
}

// serviceEnvironment writes the names, which are known before any pod exists.
func (p *Plan) serviceEnvironment(v *view.View, cfg render.Config) {
	want := render.ConfigMap(v.Job, render.ServiceAddresses(v.Job), "", cfg)
	if environmentDiffers(v.Environment, want) {
		p.do(WriteEnvironment{ConfigMap: want, Old: v.Environment})
	}
}

// addressEnvironment writes the pods' IPs once all are known, and deletes those of pods that are gone.
func (p *Plan) addressEnvironment(v *view.View, cfg render.Config) {
	addresses, gang, missing := render.PodAddresses(asCreated(v), v.Pods)
	if v.Environment != nil && v.Environment.Annotations[keys.Gang] != gang {
		p.remove(KindConfigMap, v.Environment)
		return
	}
	if specChanged(v) {
		return
	}
	if len(missing) > 0 {
		p.Missing = missing
		return
	}
	if host := ipv6(addresses); host != "" {
		p.Stalled = &render.Notice{Reason: ReasonIPv6, Message: fmt.Sprintf("the pods' addresses are IPv6 (%s), and Paddle cannot "+
			"read a list of such addresses: set spec.intranet: Service, which uses names", host)}
		return
	}
	want := render.ConfigMap(v.Job, addresses, gang, cfg)
	if !environmentDiffers(v.Environment, want) {
		return
	}
	write := WriteEnvironment{ConfigMap: want, Old: v.Environment}
	if v.Environment == nil {
		write.Event = &Event{Type: corev1.EventTypeNormal, Reason: ReasonEnvironmentReady, Message: fmt.Sprintf(
			"the addresses of all %d pods are known and in ConfigMap %s; training can start", len(v.Pods), want.Name)}
	}
	p.do(write)
}

// ipv6 is an address that is not IPv4, "" if all are. Paddle splits its lists at every colon.
func ipv6(addresses render.Addresses) string {
	for _, role := range view.Roles {
		for _, host := range addresses[role] {
			if strings.Contains(host, ":") {
				return host
			}
		}
	}
	return ""
}

func environmentDiffers(have, want *corev1.ConfigMap) bool {
	if have == nil {
		return true
	}
	return have.DeletionTimestamp == nil && (!maps.Equal(have.Data, want.Data) ||
		have.Annotations[keys.Gang] != want.Annotations[keys.Gang] || lacks(have.Labels, want.Labels))
}

// intranetOf is the intranet that the Volcano Job was made with. A job that exists keeps it when the controller is
// started with another default, or when the spec is changed too late.
func intranetOf(v *view.View, cfg render.Config) v1.Intranet {
	if intranet := v.VolcanoJob.Annotations[keys.Intranet]; intranet != "" {
		return v1.Intranet(intranet)
	}
	return render.Intranet(v.Job, cfg)
}

// asCreated is the PaddleJob with the sizes that the Volcano Job was made with, which a change of the spec leaves.
func asCreated(v *view.View) *v1.PaddleJob {
	job := *v.Job
	for role, spec := range map[string]**v1.ResourceSpec{render.RolePS: &job.Spec.PS, render.RoleWorker: &job.Spec.Worker} {
		*spec = nil
		if total, _ := v.Size(role); total > 0 {
			*spec = &v1.ResourceSpec{Replicas: int(total)}
		}
	}
	return &job
}
