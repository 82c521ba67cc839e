// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/drawing"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/migrate"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
)

// Load reads a job and what belongs to it. It fails without the job; o.Unread names what else the user may not read.
func (c *Clients) Load(ctx context.Context, name string) (*describe.Objects, error) {
	job, err := Get[v1.PaddleJob](ctx, c, c.Namespace, name)
	if err != nil {
		return nil, err
	}
	o := &describe.Objects{State: observed.State{Job: job, Now: time.Now()}}
	with := labels.Set{v1.JobNameLabel: name}
	r := collectUnreadable(&o.Unread)
	vcjob, err := Get[vcbatch.Job](ctx, c, c.Namespace, name)
	if r.read("Volcano Jobs", err) && metav1.IsControlledBy(vcjob, job) {
		o.VolcanoJob = vcjob
	}
	groups, err := List[vcscheduling.PodGroupList](ctx, c, c.Namespace, metav1.ListOptions{LabelSelector: with.String()})
	if r.read("PodGroups", err) {
		o.PodGroup = groupOf(groups.Items, o.VolcanoJob)
	}
	o.Pods, err = c.Pods(ctx, with)
	r.read("pods", err)
	if queue := describe.QueueOf(job); queue != "" {
		q, err := Get[vcscheduling.Queue](ctx, c, "", queue)
		if r.read("queues", err) {
			o.Queue = q
		}
	}
	r.read("events", c.loadEvents(ctx, o))
	for _, class := range o.PriorityClasses() {
		_, err := Get[schedulingv1.PriorityClass](ctx, c, "", class)
		if apierrors.IsNotFound(err) {
			o.MissingPriorityClasses = append(o.MissingPriorityClasses, class)
		}
		r.read("PriorityClasses", err)
	}
	return o, r.err
}

// Pods returns the pods with labels, in the order of roles and ranks.
func (c *Clients) Pods(ctx context.Context, with labels.Set) ([]*corev1.Pod, error) {
	found, err := List[corev1.PodList](ctx, c, c.Namespace, metav1.ListOptions{LabelSelector: with.String()})
	pods := itemsOf[corev1.Pod](found)
	observed.SortPods(pods)
	return pods, err
}

// groupOf returns the PodGroup of a Volcano Job, and the youngest one if the Job is not known.
func groupOf(groups []vcscheduling.PodGroup, job *vcbatch.Job) *vcscheduling.PodGroup {
	slices.SortFunc(groups, func(a, b vcscheduling.PodGroup) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for i := range groups {
		if job == nil || metav1.IsControlledBy(&groups[i], job) {
			return &groups[i]
		}
	}
	return nil
}

// loadEvents adds the events of the job, and the warnings about its Volcano Job and its pods while they may keep the job from running.
func (c *Clients) loadEvents(ctx context.Context, o *describe.Objects) error {
	own, err := List[corev1.EventList](ctx, c, o.Job.Namespace, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(o.Job.UID)})
	o.Events = own.Items
	if err != nil || observed.Finished(o.Job) || meta.IsStatusConditionTrue(o.Job.Status.Conditions, v1.ConditionRunning) && o.Mounting() == nil {
		return err
	}
	related := map[types.UID]bool{}
	if o.VolcanoJob != nil {
		related[o.VolcanoJob.UID] = true
	}
	for _, pod := range o.Pods {
		related[pod.UID] = true
	}
	events, err := List[corev1.EventList](ctx, c, o.Job.Namespace, metav1.ListOptions{FieldSelector: "type=" + corev1.EventTypeWarning})
	o.Events = append(o.Events, slices.DeleteFunc(events.Items, func(e corev1.Event) bool { return !related[e.InvolvedObject.UID] })...)
	return err
}

// Queues reads which jobs may wait in queues: in all namespaces, or else in the user's own.
func (c *Clients) Queues(ctx context.Context) (*describe.Queues, error) {
	q := &describe.Queues{}
	r := collectUnreadable(&q.Unread)
	q.Partial = !everywhere[vcscheduling.PodGroupList](ctx, c, r, "PodGroups", &q.Groups)
	readAll[schedulingv1.PriorityClassList](ctx, c, "", r, "PriorityClasses, so that queue positions depend on age alone", &q.Classes)
	return q, r.err
}

// LoadMap reads the nodes, their topology and what is on them. It fails without the nodes. Other objects that the user may not read in
// all namespaces are read in the user's own, or skipped. labels are the node labels that the user names, or none.
func (c *Clients) LoadMap(ctx context.Context, labels []string) (*drawing.Objects, error) {
	nodes, err := List[corev1.NodeList](ctx, c, "", metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	o := &drawing.Objects{At: time.Now(), Network: plan.Network{Nodes: itemsOf[corev1.Node](nodes), Labels: labels}}
	r := collectUnreadable(&o.Unread)
	if len(labels) == 0 {
		hypers, err := List[topologyv1alpha1.HyperNodeList](ctx, c, "", metav1.ListOptions{})
		if r.read("HyperNodes", err) {
			o.Network.HyperNodes = hypers.Items
		}
		text := c.readConfiguration(ctx, r, "the scheduler's configuration, which names the labels of racks", "")
		if o.Network.SchedulerLabels, err = topologyLabels(text); err != nil {
			o.Unread = append(o.Unread, err.Error())
		}
	}
	o.Partial = !everywhere[corev1.PodList](ctx, c, r, "pods", &o.Pods)
	everywhere[v1.PaddleJobList](ctx, c, r, "PaddleJobs", &o.Jobs)
	everywhere[vcscheduling.PodGroupList](ctx, c, r, "PodGroups", &o.Groups)
	return o, r.err
}

// readConfiguration returns the configuration of the scheduler of a name, "" if it is skipped.
func (c *Clients) readConfiguration(ctx context.Context, r *bestEffortReader, what, scheduler string) string {
	text, err := c.configuration(ctx, scheduler)
	if errors.Is(err, errNoScheduler) || apierrors.IsNotFound(err) {
		r.skip(what, err.Error())
	} else {
		r.read(what, err)
	}
	return text
}

// Snapshot reads the scheduler's view of the whole cluster. It fails without nodes or pods; Unread names what else the user may not
// read. A configuration that is given is used instead of that of the scheduler of a name.
func (c *Clients) Snapshot(ctx context.Context, scheduler, configuration string) (*snapshot.Snapshot, error) {
	s, r, err := c.nodes(ctx, scheduler, configuration)
	if err != nil {
		return nil, err
	}
	pods, err := List[corev1.PodList](ctx, c, metav1.NamespaceAll, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("read the pods of all namespaces, without which free resources are not known: %w", err)
	}
	s.Pods = itemsOf[corev1.Pod](pods)
	readAll[corev1.NamespaceList](ctx, c, "", r, "namespaces", &s.Namespaces)
	readAll[vcscheduling.QueueList](ctx, c, "", r, snapshot.Queues, &s.Queues)
	readAll[schedulingv1.PriorityClassList](ctx, c, "", r, snapshot.PriorityClasses, &s.PriorityClasses)
	readAll[corev1.ResourceQuotaList](ctx, c, "", r, "ResourceQuotas", &s.ResourceQuotas)
	readAll[vcscheduling.PodGroupList](ctx, c, "", r, "PodGroups", &s.PodGroups)
	readAll[vcbatch.JobList](ctx, c, "", r, "Volcano Jobs", &s.Jobs)
	return snapshot.New(s), r.err
}

// Alone reads the cluster with one job on it and nothing else. It fails if anything may not be read.
func (c *Clients) Alone(ctx context.Context, o *describe.Objects) (*snapshot.Snapshot, error) {
	scheduler := ""
	if len(o.Pods) > 0 {
		scheduler = o.Pods[0].Spec.SchedulerName
	}
	s, r, err := c.nodes(ctx, scheduler, "")
	if err != nil {
		return nil, err
	}
	if len(s.Unread) > 0 {
		return nil, errors.New(s.Unread[0].String())
	}
	s.PodGroups, s.Pods = []*vcscheduling.PodGroup{o.PodGroup}, o.Pods
	return snapshot.New(s), r.err
}

// nodes reads the cluster's nodes and network, and the scheduler's configuration unless that is given.
func (c *Clients) nodes(ctx context.Context, scheduler, configuration string) (*snapshot.Snapshot, *bestEffortReader, error) {
	nodes, err := List[corev1.NodeList](ctx, c, "", metav1.ListOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("read the cluster's nodes, without which nothing can be planned: %w", err)
	}
	s := &snapshot.Snapshot{Time: metav1.NewTime(time.Now()), SchedulerConfiguration: configuration, Nodes: itemsOf[corev1.Node](nodes)}
	r := &bestEffortReader{skip: func(what, why string) { s.Unread = append(s.Unread, snapshot.Unread{What: what, Why: why}) }}
	readAll[topologyv1alpha1.HyperNodeList](ctx, c, "", r, "HyperNodes", &s.HyperNodes)
	if configuration == "" {
		s.SchedulerConfiguration = c.readConfiguration(ctx, r, "the scheduler's configuration", scheduler)
	}
	return s, r, nil
}

// Component is a Deployment of the controller or of a scheduler.
type Component struct {
	// Role is "controller" or "scheduler".
	Role      string `json:"role"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Version is the tag of the image, or else the label app.kubernetes.io/version of the Deployment, or else the digest.
	Version string `json:"version"`
	Image   string `json:"image"`
}

// Components returns the controllers and the schedulers of the cluster.
func (c *Clients) Components(ctx context.Context) (found []Component, err error) {
	deployments, err := List[appsv1.DeploymentList](ctx, c, metav1.NamespaceAll, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("read the Deployments of all namespaces, to find the controller and the scheduler: %w", err)
	}
	for _, d := range deployments.Items {
		controller := d.Labels["app.kubernetes.io/component"] == "controller" &&
			(d.Labels["app.kubernetes.io/part-of"] == "paddle-volcano" || d.Labels["app.kubernetes.io/name"] == "paddle-volcano")
		for _, container := range d.Spec.Template.Spec.Containers {
			one := Component{Role: "controller", Namespace: d.Namespace, Name: d.Name, Image: container.Image}
			if file, _ := schedulerFlags(&container); file != "" {
				one.Role = "scheduler"
			} else if !controller {
				continue
			}
			image, digest, _ := strings.Cut(container.Image, "@")
			_, tag, _ := strings.Cut(path.Base(image), ":")
			one.Version = cmp.Or(tag, d.Labels["app.kubernetes.io/version"], digest, "latest")
			found = append(found, one)
		}
	}
	slices.SortStableFunc(found, func(a, b Component) int { return cmp.Compare(a.Role, b.Role) })
	return found, nil
}

// errNoScheduler is the error where no Deployment of the cluster is a scheduler's.
var errNoScheduler = errors.New("no Deployment of the cluster has the flag --scheduler-conf and a ConfigMap for it")

// configuration returns the configuration that the running scheduler of a name has mounted; "" is Volcano's name.
func (c *Clients) configuration(ctx context.Context, scheduler string) (string, error) {
	deployments, err := List[appsv1.DeploymentList](ctx, c, metav1.NamespaceAll, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	scheduler = cmp.Or(scheduler, builder.DefaultScheduler)
	all := slices.DeleteFunc(deployments.Items, func(d appsv1.Deployment) bool { name, _ := configurationOf(&d, scheduler); return name == "" })
	if len(all) == 0 {
		return "", errNoScheduler
	}
	used := &all[max(slices.IndexFunc(all, migrate.Runs), 0)] // one that does not run counts only where there is no other
	configMap, key := configurationOf(used, scheduler)
	object, err := Get[corev1.ConfigMap](ctx, c, used.Namespace, configMap)
	if err != nil {
		return "", err
	}
	if text, ok := object.Data[key]; ok {
		return text, nil
	}
	return config.InData(object.Data), nil
}

// configurationOf returns the ConfigMap and the entry of it that a Deployment has its configuration from, "" if it is no scheduler of
// that name.
func configurationOf(d *appsv1.Deployment, scheduler string) (configMap, key string) {
	pod := &d.Spec.Template.Spec
	for _, container := range pod.Containers {
		file, names := schedulerFlags(&container)
		if file == "" || !slices.Contains(names, scheduler) {
			continue
		}
		for _, mount := range container.VolumeMounts {
			within, ok := strings.CutPrefix(file, strings.TrimSuffix(mount.MountPath, "/"))
			at := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return ok && v.Name == mount.Name && v.ConfigMap != nil })
			if at < 0 {
				continue
			}
			volume, key := pod.Volumes[at].ConfigMap, cmp.Or(mount.SubPath, strings.TrimPrefix(within, "/"))
			for _, item := range volume.Items {
				if item.Path == key {
					return volume.Name, item.Key
				}
			}
			return volume.Name, key
		}
	}
	return "", ""
}

// schedulerFlags returns the path of the configuration that a container is started with, "" if it is no scheduler's, and the names that
// pods give the scheduler.
func schedulerFlags(container *corev1.Container) (file string, names []string) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.ParseErrorsWhitelist.UnknownFlags = true
	flags.Usage = func() {}
	flags.StringVar(&file, "scheduler-conf", "", "")
	flags.StringSliceVar(&names, "scheduler-name", []string{builder.DefaultScheduler}, "")
	_ = flags.Parse(slices.Concat(container.Command, container.Args)) // an error is about the flags of another program
	return file, names
}

// topologyLabels returns the plugin's argument from the text of a scheduler's configuration.
func topologyLabels(text string) ([]string, error) {
	parsed, _, err := config.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read the scheduler's configuration: %w", err)
	}
	for _, tier := range parsed.Tiers {
		for i := range tier.Plugins {
			if tier.Plugins[i].Name == config.PluginName {
				arguments, _ := config.Decode(tier.Plugins[i].Arguments, nil) // errors are the scheduler's to report
				return arguments.TopologyLabels, nil
			}
		}
	}
	return nil, nil
}
