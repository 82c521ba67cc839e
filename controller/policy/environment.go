// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// markEnvironment writes on a Volcano Job how its environment is made, for the controller's flags and the spec may be
// others by the time that it is.
func markEnvironment(job *vcbatch.Job, of *v1.PaddleJob, cfg render.Config) {
	intranet := render.Intranet(of, cfg)
	job.Annotations[keys.Intranet] = string(intranet)
	if intranet == v1.Host {
		job.Labels[keys.Intranet] = string(intranet)
	}
	if render.Elastic(of) {
		job.Annotations[keys.Elastic] = "true"
	}
	if render.Announced(of, cfg) {
		job.Annotations[keys.Announced] = "true"
	}
}

// environment keeps the ConfigMap that the pods' containers wait for.
func (p *Plan) environment(v *view.View, cfg render.Config) {
	if v.Succeeded() {
		return // servers on their way out are no reason to withdraw anything
	}
	phase := v.VolcanoJob.Status.State.Phase
	if known(intranetOf(v, cfg), v.VolcanoJob.Annotations[keys.Elastic] != "") {
		if WantsPodGroup(phase) && !specChanged(v) {
			p.knownEnvironment(v, cfg)
			p.Stalled = unreachable(v)
		}
		return
	}
	switch {
	case WantsPodGroup(phase):
		p.addressEnvironment(v, cfg)
	case phase == vcbatch.Restarting || phase == vcbatch.Aborting || phase == vcbatch.Aborted:
		// No pod that comes next may read the addresses of the dead.
		if v.Environment != nil {
			p.remove(KindConfigMap, v.Environment)
		}
		p.returnPorts(v)
	}
}

// known says whether the environment is known before any pod exists: names are, and elastic workers find each other.
func known(intranet v1.Intranet, elastic bool) bool { return intranet == v1.Service || elastic }

// knownEnvironment writes what is known before any pod exists.
func (p *Plan) knownEnvironment(v *view.View, cfg render.Config) {
	want := render.ConfigMap(v.Job, render.ServiceAddresses(v.Job), "", cfg)
	if environmentDiffers(v.Environment, want) {
		p.do(WriteEnvironment{ConfigMap: want, Old: v.Environment})
	}
}

// addressEnvironment writes the pods' IPs once all are known, and deletes those of pods that are gone.
func (p *Plan) addressEnvironment(v *view.View, cfg render.Config) {
	job := asCreated(v)
	addresses, gang, missing := render.PodAddresses(job, v.Pods)
	if len(missing) == 0 {
		p.LauncherUnusable = launcherUnusable(job, addresses)
	}
	if v.Environment != nil && v.Environment.Annotations[keys.Gang] != gang {
		p.remove(KindConfigMap, v.Environment)
		return
	}
	if specChanged(v) {
		return
	}
	if len(missing) > 0 {
		p.Missing = missing
		if !p.returnPorts(v) && toldPort(v) != 0 {
			p.firstPort(v, cfg) // somebody may have changed what was written, and those that were told listen there
		}
		return
	}
	first, ok := p.firstPort(v, cfg)
	if !ok {
		return
	}
	if p.announce(v, job, first) {
		return
	}
	if p.Stalled = unreadable(v.Job, addresses); p.Stalled != nil {
		return
	}
	want := render.ConfigMapAt(v.Job, addresses, first, gang, cfg)
	if !environmentDiffers(v.Environment, want) {
		p.wake(v, gang)
		return
	}
	write := WriteEnvironment{ConfigMap: want, Old: v.Environment}
	if v.Environment == nil {
		write.Event = &Event{Type: corev1.EventTypeNormal, Reason: ReasonEnvironmentReady, Message: fmt.Sprintf(
			"the addresses of all %d pods are known and in ConfigMap %s; training can start", len(v.Pods), want.Name)}
		if p.LauncherUnusable != nil {
			write.Event.Type = corev1.EventTypeWarning
			write.Event.Message += "; " + p.LauncherUnusable.Message
		}
	}
	p.do(write)
}

// unreadable says that Paddle cannot use the pods' addresses, nil if it can. A single worker has no use for one.
func unreadable(job *v1.PaddleJob, addresses render.Addresses) *render.Notice {
	if render.Mode(job) == v1.ModeSingle {
		return nil
	}
	for _, role := range view.Roles {
		for _, host := range addresses[role] {
			if render.IPv6(host) {
				return ipv6(host, "run the job where pods have an IPv4 address; where that is their second one, start the "+
					"controller with --announce-pod-ips and create the job again")
			}
		}
	}
	return nil
}

// unreachable says the same of pods that find each other without us: their names lead to the first of their addresses, and
// so does what they tell each other.
func unreachable(v *view.View) *render.Notice {
	if render.Mode(v.Job) == v1.ModeSingle {
		return nil
	}
	for _, m := range v.Members() {
		if host := m.Pod.Status.PodIP; render.IPv6(host) {
			return ipv6(host, "run the job where the first address of a pod is IPv4; if it is not elastic, spec.intranet: PodIP can do "+
				"with the second one when the controller is started with --announce-pod-ips")
		}
	}
	return nil
}

func ipv6(host, advice string) *render.Notice {
	return &render.Notice{Reason: ReasonIPv6, Message: fmt.Sprintf("the pods' addresses are IPv6 (%s), and Paddle neither reads nor "+
		"opens such addresses: %s", host, advice)}
}

// launcherUnusable says why paddle.distributed.launch cannot start the gang, nil if it can. It selects a pod's processes by
// the prefix of their addresses, in jobs with servers only.
func launcherUnusable(job *v1.PaddleJob, addresses render.Addresses) *render.Notice {
	if job.Spec.PS == nil {
		return nil
	}
	prefix, address := render.AddressPrefix(addresses)
	if prefix == "" {
		return nil
	}
	return &render.Notice{Reason: ReasonAddressPrefix, Message: fmt.Sprintf("python -m paddle.distributed.launch fails in this gang: "+
		"the address %s is a prefix of %s, so the launcher of one pod would start the processes of the other too. Set spec.intranet: Service, "+
		"or start the program without the launcher", prefix, address)}
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
	for role, spec := range map[string]**v1.ResourceSpec{
		render.RolePS: &job.Spec.PS, render.RoleWorker: &job.Spec.Worker, render.RoleHeter: &job.Spec.Heter,
	} {
		*spec = nil
		if total, _ := v.Size(role); total > 0 {
			*spec = &v1.ResourceSpec{Replicas: int(total)}
		}
	}
	return &job
}
