// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
)

// markEnvironment writes on a Volcano Job how its environment is made, for the controller's flags and the spec may be
// others by the time that it is.
func markEnvironment(job *vcbatch.Job, of *v1.PaddleJob, cfg builder.Config) {
	intranet := builder.Intranet(of, cfg)
	job.Annotations[keys.Intranet] = string(intranet)
	if intranet == v1.Host {
		job.Labels[keys.Intranet] = string(intranet)
	}
	if builder.Elastic(of) {
		job.Annotations[keys.Elastic] = "true"
	}
	if builder.Announced(of, cfg) {
		job.Annotations[keys.Announced] = "true"
	}
}

// environment keeps the ConfigMap that the pods' containers wait for.
func (p *Plan) environment(obs *observed.State, cfg builder.Config) {
	if obs.Succeeded() {
		return // servers on their way out are no reason to withdraw anything
	}
	phase := obs.VolcanoJob.Status.State.Phase
	if known(intranetOf(obs, cfg), obs.VolcanoJob.Annotations[keys.Elastic] != "") {
		if volcano.GangActive(phase) && !specChanged(obs) {
			p.knownEnvironment(obs, cfg)
			p.Stalled = unreachable(obs)
		}
		return
	}
	switch {
	case volcano.GangActive(phase):
		p.addressEnvironment(obs, cfg)
	case phase == vcbatch.Restarting || phase == vcbatch.Aborting || phase == vcbatch.Aborted:
		// No pod that comes next may read the addresses of the dead.
		if obs.Environment != nil {
			p.remove(KindConfigMap, obs.Environment)
		}
		p.returnPorts(obs)
	}
}

// known reports whether the environment is known before any pod exists: names are, and elastic workers find each other.
func known(intranet v1.Intranet, elastic bool) bool { return intranet == v1.Service || elastic }

// knownEnvironment writes what is known before any pod exists.
func (p *Plan) knownEnvironment(obs *observed.State, cfg builder.Config) {
	want := builder.ConfigMap(obs.Job, builder.ServiceAddresses(obs.Job), "", cfg)
	if environmentDiffers(obs.Environment, want) {
		p.do(WriteEnvironment{ConfigMap: want, Old: obs.Environment})
	}
}

// addressEnvironment writes the pods' IPs once all are known, and deletes those of pods that are gone.
func (p *Plan) addressEnvironment(obs *observed.State, cfg builder.Config) {
	job := asCreated(obs)
	addresses, gang, missing := builder.PodAddresses(job, obs.Pods)
	if len(missing) == 0 {
		p.LauncherUnusable = launcherUnusable(job, addresses)
	}
	if obs.Environment != nil && obs.Environment.Annotations[keys.Gang] != gang {
		p.remove(KindConfigMap, obs.Environment)
		return
	}
	if specChanged(obs) {
		return
	}
	if len(missing) > 0 {
		p.Missing = missing
		if !p.returnPorts(obs) && announcedPort(obs) != 0 {
			p.firstPort(obs, cfg) // somebody may have changed what was written, and those that were told listen there
		}
		return
	}
	first, ok := p.firstPort(obs, cfg)
	if !ok {
		return
	}
	if p.announce(obs, job, first) {
		return
	}
	if p.Stalled = unreadable(obs.Job, addresses); p.Stalled != nil {
		return
	}
	want := builder.ConfigMapAt(obs.Job, addresses, first, gang, cfg)
	if !environmentDiffers(obs.Environment, want) {
		p.nudgeKubelet(obs, gang)
		return
	}
	write := WriteEnvironment{ConfigMap: want, Old: obs.Environment}
	if obs.Environment == nil {
		write.Event = &Event{Type: corev1.EventTypeNormal, Reason: ReasonEnvironmentReady, Message: fmt.Sprintf(
			"the addresses of all %d pods are known and in ConfigMap %s; training can start", len(obs.Pods), want.Name)}
		if p.LauncherUnusable != nil {
			write.Event.Type = corev1.EventTypeWarning
			write.Event.Message += "; " + p.LauncherUnusable.Message
		}
	}
	p.do(write)
}

// unreadable says that Paddle cannot use the pods' addresses, nil if it can. A single worker has no use for one.
func unreadable(job *v1.PaddleJob, addresses builder.Addresses) *builder.Cause {
	if builder.Mode(job) == v1.ModeSingle {
		return nil
	}
	for _, role := range observed.Roles {
		for _, host := range addresses[role] {
			if builder.IPv6(host) {
				return ipv6(host, "run the job where pods have an IPv4 address; where that is their second one, start the "+
					"controller with --announce-pod-ips and create the job again")
			}
		}
	}
	return nil
}

// unreachable says the same of pods that find each other without us: their names lead to the first of their addresses, and
// so does what they tell each other.
func unreachable(obs *observed.State) *builder.Cause {
	if builder.Mode(obs.Job) == v1.ModeSingle {
		return nil
	}
	for _, m := range obs.RolePods() {
		if host := m.Pod.Status.PodIP; builder.IPv6(host) {
			return ipv6(host, "run the job where the first address of a pod is IPv4; if it is not elastic, spec.intranet: PodIP can do "+
				"with the second one when the controller is started with --announce-pod-ips")
		}
	}
	return nil
}

func ipv6(host, advice string) *builder.Cause {
	return &builder.Cause{Reason: ReasonIPv6, Message: fmt.Sprintf("the pods' addresses are IPv6 (%s), and Paddle neither reads nor "+
		"opens such addresses: %s", host, advice)}
}

// launcherUnusable says why paddle.distributed.launch cannot start the gang, nil if it can. It selects a pod's processes by
// the prefix of their addresses, in jobs with servers only.
func launcherUnusable(job *v1.PaddleJob, addresses builder.Addresses) *builder.Cause {
	if job.Spec.PS == nil {
		return nil
	}
	prefix, address := builder.AddressPrefix(addresses)
	if prefix == "" {
		return nil
	}
	return &builder.Cause{Reason: ReasonAddressPrefix, Message: fmt.Sprintf("python -m paddle.distributed.launch fails in this gang: "+
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
func intranetOf(obs *observed.State, cfg builder.Config) v1.Intranet {
	if intranet := obs.VolcanoJob.Annotations[keys.Intranet]; intranet != "" {
		return v1.Intranet(intranet)
	}
	return builder.Intranet(obs.Job, cfg)
}

// asCreated is the PaddleJob with the sizes that the Volcano Job was made with, which a change of the spec leaves.
func asCreated(obs *observed.State) *v1.PaddleJob {
	job := *obs.Job
	for role, spec := range map[string]**v1.ResourceSpec{
		builder.RolePS: &job.Spec.PS, builder.RoleWorker: &job.Spec.Worker, builder.RoleHeter: &job.Spec.Heter,
	} {
		*spec = nil
		if total, _ := obs.Size(role); total > 0 {
			*spec = &v1.ResourceSpec{Replicas: total}
		}
	}
	return &job
}

// reasonNoConfig is what a kubelet says of a container whose ConfigMap was not there.
const reasonNoConfig = "CreateContainerConfigError"

// nudgeKubelet has kubelets look again at pods that they could not start before the environment was there. By themselves they do
// so 10 to 15 seconds after they found it missing, but at once when anything about the pod changes.
func (p *Plan) nudgeKubelet(obs *observed.State, gang string) {
	var action AnnouncePods
	for _, pod := range obs.Pods {
		if lacksConfig(pod) && pod.DeletionTimestamp == nil && pod.Annotations[keys.Gang] != gang {
			action.Pods = append(action.Pods, Announcement{Pod: pod, Annotations: map[string]string{keys.Gang: gang}})
		}
	}
	if len(action.Pods) > 0 {
		p.do(action)
	}
}

func lacksConfig(pod *corev1.Pod) bool {
	return slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(c corev1.ContainerStatus) bool {
		return c.State.Waiting != nil && c.State.Waiting.Reason == reasonNoConfig
	})
}
