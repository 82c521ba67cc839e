// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// markEnvironment annotates a Volcano Job with how its environment is made, because the controller's flags and the spec may
// change before it is written.
func markEnvironment(job *vcbatch.Job, of *v1.PaddleJob, cfg builder.Config) {
	intranet := builder.Intranet(of, cfg)
	job.Annotations[v1.IntranetAnnotation] = string(intranet)
	if intranet == v1.Host {
		job.Labels[v1.IntranetAnnotation] = string(intranet)
	}
	if builder.Elastic(of) {
		job.Annotations[v1.ElasticAnnotation] = "true"
	}
	if builder.Announced(of, cfg) {
		job.Annotations[v1.AnnouncedAnnotation] = "true"
	}
}

// environment writes or deletes the ConfigMap that the pods' containers wait for.
func (p *Plan) environment(obs *observed.State, cfg builder.Config) {
	if obs.Succeeded() {
		return // terminating servers are no reason to withdraw anything
	}
	phase := obs.Phase()
	if known(intranetOf(obs, cfg), obs.VolcanoJob.Annotations[v1.ElasticAnnotation] != "") {
		if observed.IsActive(phase) && !specChanged(obs) {
			p.knownEnvironment(obs, cfg)
			p.Stalled = unreachable(obs)
		}
		return
	}
	switch {
	case observed.IsActive(phase):
		p.addressEnvironment(obs, cfg)
	case phase == vcbatch.Restarting || observed.IsAborted(phase):
		// No later pod may read the addresses of deleted pods.
		remove(p, KindConfigMap, obs.Environment)
		p.releasePorts(obs)
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

// addressGracePeriod is how long the pods of a gang may have nodes and no addresses before the status says so: on a busy
// cluster every gang waits for its last address.
const addressGracePeriod = 2 * time.Minute

// startingFor is how long the gang has had its nodes and has not run. A worker that is replaced alone may have a node before the
// status says that it had none.
func startingFor(obs *observed.State) time.Duration {
	c := meta.FindStatusCondition(obs.Job.Status.Conditions, v1.ConditionRunning)
	if c == nil || c.Status != metav1.ConditionFalse {
		return 0
	}
	return min(obs.PlacedFor(), obs.Now.Sub(c.LastTransitionTime.Time))
}

// addressEnvironment writes the pods' IPs once all are known, and deletes those of pods that are gone.
func (p *Plan) addressEnvironment(obs *observed.State, cfg builder.Config) {
	job := asCreated(obs)
	addresses, gang, missing := builder.PodAddresses(job, obs.Pods)
	if len(missing) == 0 {
		p.LauncherUnusable = launcherUnusable(job, addresses)
	}
	if obs.Environment != nil && obs.Environment.Annotations[v1.GangAnnotation] != gang {
		remove(p, KindConfigMap, obs.Environment)
		return
	}
	if specChanged(obs) {
		return
	}
	if len(missing) > 0 {
		p.Missing = missing
		if waited := startingFor(obs); waited > 0 && waited < addressGracePeriod {
			p.requeueAfter(addressGracePeriod - waited)
		}
		// A gang that runs by its phase and has no pods, or only pods that have finished, is about to be restarted or completed by
		// Volcano. A write to its Job would conflict with Volcano's, which then creates the pods again without counting a restart.
		switch {
		case announcedPort(obs) == 0:
			if obs.Phase() == vcbatch.Pending {
				p.releasePorts(obs)
			}
		case portsInUse(obs):
			p.firstPort(obs, cfg) // another program may have changed what was written
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
	p.do(WriteEnvironment{ConfigMap: want, Old: obs.Environment})
}

// unreadable returns that Paddle cannot use the pods' addresses, nil if it can. A single worker has no use for one.
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

// unreachable returns the same for pods that find each other without the controller: by their names, which resolve to their
// first addresses, or through etcd, where they register these.
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
		have.Annotations[v1.GangAnnotation] != want.Annotations[v1.GangAnnotation] || lacks(have.Labels, want.Labels))
}

// intranetOf is the intranet that the Volcano Job was made with. A job that exists keeps it when the controller is
// started with another default, or when the spec is changed too late.
func intranetOf(obs *observed.State, cfg builder.Config) v1.Intranet {
	if intranet := obs.VolcanoJob.Annotations[v1.IntranetAnnotation]; intranet != "" {
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

// nudgeKubelet has kubelets retry pods that they could not start before the environment was there. By themselves they do
// so 10 to 15 seconds after they found it missing, but at once when anything about the pod changes.
func (p *Plan) nudgeKubelet(obs *observed.State, gang string) {
	var action AnnouncePods
	for _, pod := range obs.Pods {
		if lacksConfig(pod) && pod.DeletionTimestamp == nil && pod.Annotations[v1.GangAnnotation] != gang {
			action.Pods = append(action.Pods, Announcement{Pod: pod, Annotations: map[string]string{v1.GangAnnotation: gang}})
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

// announceDelay is how long after pods were annotated the environment is written. Kubelets read annotations when they start
// a container, and see pods and ConfigMaps through watches of which either may be the later one.
const announceDelay = time.Second

// PortsOf returns the ports of nodes that a Volcano Job has. A Job that will not use them again, or that no PaddleJob of its
// name controls, has none.
func PortsOf(job *vcbatch.Job) builder.Ports {
	// The uid is not compared: the garbage collector deletes an object whose owner does not exist.
	if owner := metav1.GetControllerOf(job); owner == nil || owner.APIVersion != v1.SchemeGroupVersion.String() ||
		owner.Kind != v1.Kind || owner.Name != job.Name {
		return builder.Ports{}
	}
	if observed.IsEnded(job.Status.State.Phase) {
		return builder.Ports{}
	}
	first, err := strconv.Atoi(job.Annotations[v1.FirstPortAnnotation])
	if err != nil || first <= 0 {
		return builder.Ports{}
	}
	made := asCreated(&observed.State{Job: &v1.PaddleJob{}, VolcanoJob: job})
	return builder.Ports{First: first, Count: builder.PortsNeeded(made)}
}

// choosePorts returns where the ports of a job can begin, 0 if it needs none. Without a place it stalls and returns false.
func (p *Plan) choosePorts(obs *observed.State, cfg builder.Config) (first int, ok bool) {
	if !builder.HostPorts(obs.Job, cfg) {
		return 0, true
	}
	need := builder.PortsNeeded(obs.Job)
	all := builder.HostPortsOf(cfg)
	seed := string(obs.Job.UID)
	if obs.VolcanoJob != nil {
		// Another place than the last one, which another job chose too.
		seed += string(obs.VolcanoJob.UID) + obs.VolcanoJob.Annotations[v1.FirstPortAnnotation]
	}
	if first, ok = builder.ChoosePorts(all, need, takenPorts(obs), seed); ok {
		return first, true
	}
	p.requeueAfter(pollInterval)
	p.Stalled = &builder.Cause{Reason: ReasonNoPorts, Message: fmt.Sprintf("spec.intranet Host: of the nodes' ports %s no %d in a row "+
		"are free: wait for other jobs with intranet Host to end, give the controller more (--host-ports), or use PodIP or Service",
		all, need)}
	return 0, false
}

// firstPort returns where the ports of the job's pods begin, 0 if pods do not share addresses. It returns false while
// that has to be written first.
func (p *Plan) firstPort(obs *observed.State, cfg builder.Config) (first int, ok bool) {
	if !hasPorts(obs) {
		return 0, true
	}
	own, announced := PortsOf(obs.VolcanoJob), announcedPort(obs)
	// Without the label no other job sees the choice.
	seen := obs.VolcanoJob.Labels[v1.IntranetAnnotation] == string(v1.Host)
	switch {
	case announced != 0 && own.First == announced && seen:
		return announced, true // they may listen there already
	case announced != 0:
		p.do(MovePorts{First: announced}) // another program changed what was written, and they may listen there
		return 0, false
	case own.First != 0 && seen && !slices.ContainsFunc(takenPorts(obs), own.Overlaps):
		return own.First, true
	}
	first, ok = p.choosePorts(obs, cfg)
	if ok {
		p.do(MovePorts{First: first})
	}
	return 0, false
}

// releasePorts releases the Volcano Job's ports if none of its pods may listen there: a gang that starts again may have no
// pods for long before all of the next ones are placed.
func (p *Plan) releasePorts(obs *observed.State) {
	if hasPorts(obs) && PortsOf(obs.VolcanoJob).First != 0 && !portsInUse(obs) {
		p.do(MovePorts{})
	}
}

// portsInUse reports whether a pod that has not finished has received its ports, and may listen there.
func portsInUse(obs *observed.State) bool {
	return slices.ContainsFunc(unfinishedPods(obs.Pods), func(pod *corev1.Pod) bool { return pod.Annotations[v1.PortAnnotation] != "" })
}

// hasPorts reports whether each pod of the Volcano Job has distinct ports.
func hasPorts(obs *observed.State) bool {
	return obs.VolcanoJob.Annotations[v1.IntranetAnnotation] == string(v1.Host) && obs.VolcanoJob.Annotations[v1.AnnouncedAnnotation] != ""
}

// announcedPort is where the job's ports begin by the annotations of its pods, 0 if none has any.
func announcedPort(obs *observed.State) int {
	job := asCreated(obs)
	for _, pod := range builder.Members(job, obs.Pods) {
		port, err := strconv.Atoi(pod.Annotations[v1.PortAnnotation])
		if err != nil {
			continue
		}
		base, _ := strconv.Atoi(builder.PodAnnotations(job, 1, pod)[v1.PortAnnotation])
		return port - base + 1
	}
	return 0
}

func takenPorts(obs *observed.State) []builder.Ports {
	if obs.TakenPorts == nil {
		return nil
	}
	return obs.TakenPorts()
}

// announce annotates the pods with what their templates read from annotations, and reports whether an annotation is missing, or
// too new for the kubelets to have seen it.
func (p *Plan) announce(obs *observed.State, job *v1.PaddleJob, first int) bool {
	if obs.VolcanoJob.Annotations[v1.AnnouncedAnnotation] == "" {
		return false
	}
	action := AnnouncePods{Ports: PortsOf(obs.VolcanoJob)}
	var latest time.Duration
	for _, pod := range builder.Members(job, obs.Pods) {
		want := builder.PodAnnotations(job, first, pod)
		if lacks(pod.Annotations, want) {
			want[v1.AnnouncedAtAnnotation] = obs.Now.UTC().Format(time.RFC3339Nano)
			action.Pods = append(action.Pods, Announcement{Pod: pod, Annotations: want})
		} else if at, err := time.Parse(time.RFC3339Nano, pod.Annotations[v1.AnnouncedAtAnnotation]); err == nil && !at.After(obs.Now) {
			latest = max(latest, announceDelay-obs.Now.Sub(at)) // one from the future is another controller's clock
		}
	}
	if len(action.Pods) > 0 {
		p.do(action)
		return true
	}
	if latest <= 0 || obs.Environment != nil {
		return false
	}
	p.requeueAfter(latest)
	return true
}
