// SPDX-License-Identifier: Apache-2.0

// Package snapshot holds what a scheduler sees of a cluster, as one value and one file. It keeps only the fields of each object that
// are listed here. It makes no API calls and reads no clock.
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

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
)

// The API version and kind of a snapshot.
const (
	Version = "snapshot.paddlepaddle.org/v1"
	Kind    = "ClusterSnapshot"
)

// Kinds of objects, as Unread names them.
const (
	HyperNodes      = "HyperNodes"
	Queues          = "queues"
	PodGroups       = "PodGroups"
	PriorityClasses = "PriorityClasses"
	Quotas          = "ResourceQuotas"
	Jobs            = "Volcano Jobs"
	Namespaces      = "namespaces"
	Configuration   = "the scheduler's configuration"
)

// Snapshot is the scheduler's view of a cluster. Its objects have only the fields that the scheduler reads.
type Snapshot struct {
	metav1.TypeMeta `json:",inline"`
	// Time is when it was taken.
	Time metav1.Time `json:"time"`
	// Unread are the kinds that could not be read.
	Unread []Unread `json:"unread,omitempty"`
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

		Nodes: each(read.Nodes, node), Namespaces: each(read.Namespaces, namespace), HyperNodes: each(read.HyperNodes, hyperNode),
		Queues: each(read.Queues, queue), PriorityClasses: each(read.PriorityClasses, priorityClass), ResourceQuotas: each(read.ResourceQuotas, quota),
		PodGroups: each(read.PodGroups, podGroup), Pods: each(read.Pods, pod), Jobs: each(waiting(read), job),
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
		switch group.Status.Phase {
		case "", vcscheduling.PodGroupPending, vcscheduling.PodGroupInqueue:
			wait[group.Namespace+"/"+group.Name] = true
		case vcscheduling.PodGroupRunning, vcscheduling.PodGroupUnknown, vcscheduling.PodGroupCompleted:
		}
	}
	for _, pod := range s.Pods {
		delete(wait, pod.Namespace+"/"+pod.Annotations[vcscheduling.KubeGroupNameAnnotationKey])
	}
	for _, job := range s.Jobs {
		if wait[job.Namespace+"/"+GroupOf(job)] {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// GroupOf returns the name of a Volcano Job's PodGroup.
func GroupOf(job *vcbatch.Job) string { return job.Name + "-" + string(job.UID) }

// Write writes a snapshot in the form that a file's name asks for: YAML for .yaml and .yml, JSON for .json, and JSON packed
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
