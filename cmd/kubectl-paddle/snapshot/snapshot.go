// SPDX-License-Identifier: Apache-2.0

// Package snapshot holds what a scheduler sees of a cluster, as one value and one file, of each object only the fields that are listed
// here. It makes no API calls and reads no clock.
package snapshot

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topology "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
)

// The API version and kind of a snapshot.
const (
	Version = "snapshot.paddlepaddle.org/v1"
	Kind    = "ClusterSnapshot"
)

// Kinds of objects without which a plan is another one, as Unread names them.
const (
	Queues          = "queues"
	PriorityClasses = "PriorityClasses"
)

// Snapshot is the scheduler's view of a cluster. Its objects have only the fields that the scheduler reads.
type Snapshot struct {
	metav1.TypeMeta `json:",inline"`
	Time            metav1.Time `json:"time"`
	Unread          []Unread    `json:"unread,omitempty"`
	// SchedulerConfiguration is the text of volcano-scheduler.conf.
	SchedulerConfiguration string `json:"schedulerConfiguration"`

	Nodes           []*corev1.Node                `json:"nodes"`
	Namespaces      []*corev1.Namespace           `json:"namespaces,omitempty"`
	HyperNodes      []*topology.HyperNode         `json:"hyperNodes,omitempty"`
	Queues          []*vcscheduling.Queue         `json:"queues,omitempty"`
	PriorityClasses []*schedulingv1.PriorityClass `json:"priorityClasses,omitempty"`
	ResourceQuotas  []*corev1.ResourceQuota       `json:"resourceQuotas,omitempty"`
	PodGroups       []*vcscheduling.PodGroup      `json:"podGroups,omitempty"`
	Pods            []*corev1.Pod                 `json:"pods"`
	// Jobs are the Volcano Jobs whose pods do not exist yet.
	Jobs []*vcbatch.Job `json:"volcanoJobs,omitempty"`
}

// Unread is a kind that could not be read, and why.
type Unread struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

func (u Unread) String() string { return u.What + " (" + u.Why + ")" }

// New returns a snapshot of what was read: the fields that the scheduler reads, in the order of names.
func New(read *Snapshot) *Snapshot {
	return &Snapshot{
		TypeMeta: metav1.TypeMeta{APIVersion: Version, Kind: Kind}, Time: metav1.Time{Time: read.Time.UTC()}, Unread: read.Unread,
		SchedulerConfiguration: read.SchedulerConfiguration,

		Nodes: each(read.Nodes, node), Pods: each(read.Pods, pod), Jobs: each(waiting(read), job),
		Namespaces: each(read.Namespaces, func(n *corev1.Namespace) *corev1.Namespace {
			return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: n.UID, Labels: n.Labels}}
		}),
		HyperNodes: each(read.HyperNodes, func(h *topology.HyperNode) *topology.HyperNode {
			return &topology.HyperNode{ObjectMeta: meta(&h.ObjectMeta), Spec: h.Spec}
		}),
		Queues: each(read.Queues, func(q *vcscheduling.Queue) *vcscheduling.Queue {
			return &vcscheduling.Queue{ObjectMeta: meta(&q.ObjectMeta), Spec: q.Spec, Status: vcscheduling.QueueStatus{State: q.Status.State}}
		}),
		PriorityClasses: each(read.PriorityClasses, func(p *schedulingv1.PriorityClass) *schedulingv1.PriorityClass {
			return &schedulingv1.PriorityClass{
				ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: p.UID}, Value: p.Value, GlobalDefault: p.GlobalDefault, PreemptionPolicy: p.PreemptionPolicy,
			}
		}),
		ResourceQuotas: each(read.ResourceQuotas, func(q *corev1.ResourceQuota) *corev1.ResourceQuota {
			return &corev1.ResourceQuota{ObjectMeta: meta(&q.ObjectMeta), Spec: q.Spec, Status: q.Status}
		}),
		PodGroups: each(read.PodGroups, func(g *vcscheduling.PodGroup) *vcscheduling.PodGroup {
			return &vcscheduling.PodGroup{ObjectMeta: meta(&g.ObjectMeta), Spec: g.Spec, Status: g.Status}
		}),
	}
}

// Lacks reports whether a kind could not be read.
func (s *Snapshot) Lacks(what string) bool {
	return slices.ContainsFunc(s.Unread, func(u Unread) bool { return u.What == what })
}

// each returns what is kept of the objects of a list, in the order of their names.
func each[T metav1.Object](list []T, keep func(T) T) []T {
	kept := make([]T, len(list))
	for i, one := range list {
		kept[i] = keep(one)
	}
	slices.SortFunc(kept, func(a, b T) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return kept
}

// waiting returns the Volcano Jobs whose PodGroup is pending and has no pods: Volcano creates them once it is admitted.
func waiting(s *Snapshot) (jobs []*vcbatch.Job) {
	wait := map[string]bool{}
	for _, group := range s.PodGroups {
		wait[group.Namespace+"/"+group.Name] = describe.Waits(group)
	}
	for _, pod := range s.Pods {
		delete(wait, pod.Namespace+"/"+pod.Annotations[vcscheduling.KubeGroupNameAnnotationKey])
	}
	for _, job := range s.Jobs {
		if wait[job.Namespace+"/"+volcano.PodGroupName(job)] {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// Write writes a snapshot in the format of a file's name: YAML for .yaml and .yml, JSON for .json, and JSON packed
// by gzip for any other.
func (s *Snapshot) Write(out io.Writer, name string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write the snapshot as JSON: %w", err)
	}
	switch {
	case strings.HasSuffix(name, ".yaml"), strings.HasSuffix(name, ".yml"):
		if text, err = yaml.JSONToYAML(text); err != nil {
			return fmt.Errorf("write the snapshot as YAML: %w", err)
		}
	case strings.HasSuffix(name, ".json"):
		text = append(text, '\n')
	default:
		packer := gzip.NewWriter(out)
		_, err := packer.Write(text)
		return errors.Join(err, packer.Close())
	}
	_, err = out.Write(text)
	return err
}

// Read reads a snapshot in any of the forms that Write writes.
func Read(text []byte) (*Snapshot, error) {
	if unpacker, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
		if text, err = io.ReadAll(unpacker); err != nil {
			return nil, fmt.Errorf("unpack the snapshot: %w", err)
		}
	}
	if !bytes.HasPrefix(text, []byte("{")) {
		var err error
		if text, err = yaml.YAMLToJSON(text); err != nil {
			return nil, fmt.Errorf("read the snapshot as YAML: %w", err)
		}
	}
	s := &Snapshot{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("read the snapshot: %w", err)
	}
	if s.Kind != Kind || s.APIVersion != Version {
		return nil, fmt.Errorf("it is a %q of %q and no snapshot that is known here, a %s of %s: take one with kubectl paddle snapshot", s.Kind, s.APIVersion, Kind, Version)
	}
	return s, nil
}

// ReadConfiguration reads volcano-scheduler.conf from a file that is one, or from a manifest with the ConfigMap that holds it.
func ReadConfiguration(file []byte) (string, error) {
	texts, err := config.Find(file)
	if err != nil {
		return "", fmt.Errorf("read the scheduler's configuration: %w", err)
	}
	return texts[0], nil
}

// meta returns what is kept of an object's metadata.
func meta(m *metav1.ObjectMeta) metav1.ObjectMeta {
	kept := metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp,
		Labels: m.Labels, Annotations: annotations(m.Annotations),
	}
	if owner := metav1.GetControllerOf(m); owner != nil {
		owner.BlockOwnerDeletion = nil
		kept.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return kept
}

// annotations returns those that Volcano's scheduler or the plugin may read: those of other projects by domain.
func annotations(all map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range all {
		domain, _, _ := strings.Cut(key, "/")
		switch domain {
		case "volcano.sh", "scheduling.volcano.sh", "scheduling.k8s.io", "topology.paddlepaddle.org", strings.TrimSuffix(v1.Prefix, "/"), v1.ResourceAnnotation:
			kept[key] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

func node(n *corev1.Node) *corev1.Node {
	kept := &corev1.Node{
		ObjectMeta: meta(&n.ObjectMeta),
		Spec:       corev1.NodeSpec{Unschedulable: n.Spec.Unschedulable, Taints: n.Spec.Taints},
		Status:     corev1.NodeStatus{Capacity: n.Status.Capacity, Allocatable: n.Status.Allocatable},
	}
	for _, c := range n.Status.Conditions {
		kept.Status.Conditions = append(kept.Status.Conditions, corev1.NodeCondition{Type: c.Type, Status: c.Status})
	}
	return kept
}

func job(j *vcbatch.Job) *vcbatch.Job {
	kept := &vcbatch.Job{
		ObjectMeta: meta(&j.ObjectMeta),
		Spec: vcbatch.JobSpec{
			SchedulerName: j.Spec.SchedulerName, Queue: j.Spec.Queue, MinAvailable: j.Spec.MinAvailable, PriorityClassName: j.Spec.PriorityClassName,
			NetworkTopology: j.Spec.NetworkTopology,
		},
		Status: vcbatch.JobStatus{Version: j.Status.Version, RetryCount: j.Status.RetryCount},
	}
	for _, task := range j.Spec.Tasks {
		kept.Spec.Tasks = append(kept.Spec.Tasks, vcbatch.TaskSpec{
			Name: task.Name, Replicas: task.Replicas, MinAvailable: task.MinAvailable, TopologyPolicy: task.TopologyPolicy, PartitionPolicy: task.PartitionPolicy,
			Template: corev1.PodTemplateSpec{ObjectMeta: meta(&task.Template.ObjectMeta), Spec: PodSpec(&task.Template.Spec)},
		})
	}
	return kept
}

func pod(p *corev1.Pod) *corev1.Pod {
	kept := &corev1.Pod{
		ObjectMeta: meta(&p.ObjectMeta), Spec: PodSpec(&p.Spec),
		Status: corev1.PodStatus{Phase: p.Status.Phase, NominatedNodeName: p.Status.NominatedNodeName},
	}
	for _, c := range p.Status.Conditions {
		kept.Status.Conditions = append(kept.Status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status, Reason: c.Reason})
	}
	return kept
}

// PodSpec returns the fields that decide where a pod may be placed and what it takes there.
func PodSpec(s *corev1.PodSpec) corev1.PodSpec {
	return corev1.PodSpec{
		NodeName: s.NodeName, SchedulerName: s.SchedulerName, NodeSelector: s.NodeSelector, Affinity: s.Affinity, Tolerations: s.Tolerations,
		TopologySpreadConstraints: s.TopologySpreadConstraints, SchedulingGates: s.SchedulingGates, HostNetwork: s.HostNetwork,
		Priority: s.Priority, PriorityClassName: s.PriorityClassName, PreemptionPolicy: s.PreemptionPolicy, Overhead: s.Overhead,
		Resources: amounts(s.Resources), Containers: containers(s.Containers), InitContainers: containers(s.InitContainers),
	}
}

func containers(all []corev1.Container) (kept []corev1.Container) {
	for _, c := range all {
		one := corev1.Container{Resources: *amounts(&c.Resources), RestartPolicy: c.RestartPolicy, Env: marks(c.Env)}
		for _, port := range c.Ports {
			if port.HostPort != 0 {
				one.Ports = append(one.Ports, corev1.ContainerPort{HostPort: port.HostPort, HostIP: port.HostIP, Protocol: port.Protocol})
			}
		}
		kept = append(kept, one)
	}
	return kept
}

func amounts(r *corev1.ResourceRequirements) *corev1.ResourceRequirements {
	if r == nil {
		return nil
	}
	return &corev1.ResourceRequirements{Requests: r.Requests, Limits: r.Limits}
}

// Variables by which the plugin detects Paddle's pods without labels.
var (
	roleVariables = []string{"TRAINING_ROLE", "PADDLE_TRAINING_ROLE"}
	trainingRoles = []string{"PSERVER", "TRAINER", "HETER_TRAINER", "HETER"}
)

const trainerVariables, serverVariables = "PADDLE_TRAINER", "PADDLE_PSERVERS"

// marks returns what the plugin reads of variables: that some are Paddle's, without their names and values, and the role.
func marks(all []corev1.EnvVar) (kept []corev1.EnvVar) {
	paddle := false
	for _, v := range all {
		paddle = paddle || strings.HasPrefix(v.Name, trainerVariables) || strings.HasPrefix(v.Name, serverVariables)
		if slices.Contains(roleVariables, v.Name) && slices.Contains(trainingRoles, v.Value) {
			kept = append(kept, corev1.EnvVar{Name: v.Name, Value: v.Value})
		}
	}
	if paddle && len(kept) == 0 {
		kept = append(kept, corev1.EnvVar{Name: trainerVariables})
	}
	return kept
}
