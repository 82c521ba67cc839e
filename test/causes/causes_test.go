// SPDX-License-Identifier: Apache-2.0

package causes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// cause is one cause of a table. In its texts NAME is its name, which is the namespace's and the label of its nodes too.
type cause struct {
	name string
	// shape of its two nodes, and whether each has a rack of its own.
	shape string
	apart bool
	// pod is more of the pod's template, spec more of the job's.
	pod, spec string
	workers   int
	cpu       string
	// before makes the cause, after the job is submitted where late.
	before []step
	// reason is told, with a text, something that is missing and a suggestion.
	reason     report.Reason
	text       string
	missing    string
	suggestion report.Suggestion
	remedy     []step
	// then is a cause that the remedy uncovers.
	then *cause
}

// step is one command of kubectl, or objects that are applied.
type step string

func (s step) run(ctx context.Context, u user, name string) error {
	text := strings.NewReplacer("NAME", name, "MANY", strconv.Itoa(nodeCount()*11/10)).Replace(string(s))
	if command, ok := strings.CutPrefix(text, "kubectl "); ok {
		_, err := u.kubectl(ctx, "", strings.Fields(command)...)
		return err
	}
	object, err := yaml.YAMLToJSON([]byte(text)) // kubectl takes what begins with a brace for JSON
	if err == nil {
		_, err = u.kubectl(ctx, string(object), "apply", "-f", "-")
	}
	return err
}

// on is a pod of others that runs on one node of the cause, with more in its spec and its container.
func on(node int, spec, container string) step {
	return step(fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: other-%d, labels: {app: other}}, spec: {nodeName: NAME-node-%d, %s
  containers: [{name: main, image: main%s}]}}`, node, node, spec, container))
}

func queue(name, more string) step {
	if !strings.Contains(more, "weight") {
		more += ", weight: 1"
	}
	return step(fmt.Sprintf("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: %s}, spec: {reclaimable: false%s}}", name, more))
}

const (
	volumes    = `volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]`
	deleteAll  = "kubectl delete pods -l app=other --grace-period=0 --force"
	claim      = step(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteMany], storageClassName: NAME, resources: {requests: {storage: 1Gi}}}}`)
	volume     = step(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: NAME}, spec: {accessModes: [ReadWriteMany], storageClassName: NAME, capacity: {storage: 1Gi}, hostPath: {path: /data}}}`)
	class      = step(`{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: NAME}, provisioner: kubernetes.io/no-provisioner}`)
	antiSelf   = `affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {batch.paddlepaddle.org/job-name: job}}}]}}`
	antiTrain  = `affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {batch.paddlepaddle.org/job-name: job}}}]}},`
	nearCache  = `affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: other}}}]}}`
	overRows   = `topologySpreadConstraints: [{maxSkew: 1, topologyKey: row, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {batch.paddlepaddle.org/job-name: job}}}]`
	nearVolume = step(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: NAME}, spec: {accessModes: [ReadWriteMany], storageClassName: NAME, capacity: {storage: 1Gi}, hostPath: {path: /data},
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [NAME]}]}]}}}}`)
	device  = step(`{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: NAME}, spec: {selectors: [{cel: {expression: 'device.driver == "NAME.example.com"'}}]}}`)
	devices = step(`{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: card}, spec: {devices: {requests: [{name: card, exactly: {deviceClassName: NAME}}]}}}`)
	slice   = step(`{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: NAME}, spec: {driver: NAME.example.com, nodeName: NAME-node-0, pool: {name: NAME, generation: 1, resourceSliceCount: 1}, devices: [{name: card-0}]}}`)
)

var causes = []cause{
	{
		name: "claim-not-found", pod: volumes, reason: report.PersistentVolumeClaimNotFound, text: "PersistentVolumeClaim data does not exist",
		missing: `"objects":[{"kind":"PersistentVolumeClaim","name":"data"}]`, suggestion: report.Suggest(report.CreateObject, "PersistentVolumeClaim data"),
		remedy: []step{class, volume, claim},
	}, {
		name: "claim-unbound", pod: volumes, before: []step{class, claim}, reason: report.PersistentVolumeClaimUnbound,
		text: "PersistentVolumeClaim data is not bound", missing: `"name":"data"`, suggestion: report.Suggest(report.BindClaim, "data"), remedy: []step{volume},
	}, {
		name: "class-not-found", pod: volumes, before: []step{claim}, reason: report.StorageClassNotFound, text: "StorageClass class-not-found does not exist",
		missing: `"kind":"StorageClass"`, suggestion: report.Suggest(report.CreateObject, "StorageClass class-not-found"), remedy: []step{class},
		then: &cause{reason: report.PersistentVolumeClaimUnbound, text: "is not bound", suggestion: report.Suggest(report.BindClaim, "data"), remedy: []step{volume}},
	}, {
		name: "volume-elsewhere", pod: volumes, before: []step{class, nearVolume, claim}, reason: report.VolumeNodeAffinity,
		text: "the volumes of the pods cannot be used on 2 of the 2 nodes", remedy: []step{"kubectl label node NAME-node-0 NAME-node-1 disk=NAME"},
	}, {
		name: "anti-affinity-of-others", before: []step{on(0, antiTrain, ""), on(1, antiTrain, "")}, reason: report.PodAntiAffinity,
		text: "anti-affinity between the pods and pods of others excludes 2 of the 2 nodes", remedy: []step{deleteAll},
	}, {
		name: "own-anti-affinity", pod: antiSelf, workers: 3, reason: report.GangAntiAffinity, text: "only 2 nodes can take one each",
		missing: `"missing":1`, suggestion: report.Suggestion{Kind: report.FewerReplicas, Value: "2"}, remedy: []step{"kubectl label node spare-node-0 cause=NAME"},
	}, {
		name: "pod-affinity", pod: nearCache, reason: report.PodAffinity, text: "the required pod affinity of the pods is not met on 2 of the 2 nodes", remedy: []step{on(0, "", "")},
	}, {
		name: "spread", pod: overRows, reason: report.TopologySpread, text: "would break their topology spread constraints on 2 of the 2 nodes",
		remedy: []step{"kubectl label node NAME-node-0 row=a", "kubectl label node NAME-node-1 row=b"},
	}, {
		name: "taint", before: []step{"kubectl taint nodes -l cause=NAME dedicated=infra:NoSchedule"}, reason: report.UntoleratedTaint,
		text: "the taint dedicated=infra:NoSchedule is on 2 of the 2 nodes", suggestion: report.Suggest(report.AddToleration, "dedicated=infra:NoSchedule"),
		remedy: []step{"kubectl taint nodes -l cause=NAME dedicated-"},
	}, {
		name: "cordon", before: []step{"kubectl cordon -l cause=NAME"}, reason: report.NodeUnschedulable, text: "cordons exclude 2 of the 2 nodes",
		suggestion: report.Suggest(report.Uncordon, "cordon-node-0"), remedy: []step{"kubectl uncordon -l cause=NAME"},
	}, {
		name: "selector", before: []step{"kubectl label node -l cause=NAME cause-"}, reason: report.NodeAffinity, text: "the node selector or node affinity of the pods (cause=selector) matches 0 of ",
		suggestion: report.Suggest(report.ChangeNodeSelector, "cause=selector"), remedy: []step{"kubectl label node NAME-node-0 NAME-node-1 cause=NAME"},
	}, {
		name: "host-port", before: []step{on(0, "", ", ports: [{containerPort: 8080, hostPort: 8080}]"), on(1, "", ", ports: [{containerPort: 8080, hostPort: 8080}]")},
		reason: report.HostPortConflict, text: "host port 8080 is in use on 2 of the 2 nodes", suggestion: report.Suggest(report.ChangeHostPort, "8080"), remedy: []step{deleteAll},
	}, {
		name: "resources", cpu: "3", before: []step{on(0, "", ", resources: {requests: {cpu: 2}}")}, reason: report.InsufficientResources,
		text: "one pod requests more cpu than is free on 1 of the 2 nodes", missing: `{"name":"cpu","requested":"3","available":"2"}`, suggestion: report.Suggestion{Kind: report.FewerReplicas, Value: "1"}, remedy: []step{deleteAll},
	}, {
		name: "pods", shape: "small", before: []step{on(0, "", ""), on(1, "", "")}, reason: report.TooManyPods, text: "the limit of pods is reached on 2 of the 2 nodes", remedy: []step{deleteAll},
	}, {
		name: "queue-full", spec: "schedulingPolicy: {queue: NAME}", before: []step{queue("NAME", ", capability: {cpu: 1}")}, reason: report.QueueCapacity,
		text: "queue queue-full has capacity for 1 of the 2 CPUs", missing: `{"name":"cpu","requested":"2","available":"1"}`, suggestion: report.Suggest(report.RaiseQueueCapability, "queue-full"),
		remedy: []step{`kubectl patch queue NAME --type=merge -p {"spec":{"capability":{"cpu":"2"}}}`},
	}, {
		name: "parent-full", spec: "schedulingPolicy: {queue: NAME}", before: []step{queue("above-full", ", capability: {cpu: 1}"), queue("NAME", ", parent: above-full")},
		reason: report.ParentQueueCapacity, text: "queue above-full has capacity for 1 of the 2 CPUs", suggestion: report.Suggest(report.RaiseQueueCapability, "above-full"),
		remedy: []step{`kubectl patch queue above-full --type=merge -p {"spec":{"capability":{"cpu":"2"}}}`},
	}, {
		name: "queue-closed", spec: "schedulingPolicy: {queue: NAME}", before: []step{queue("NAME", ", capability: {cpu: 1}")}, reason: report.QueueCapacity, text: "queue queue-closed",
		suggestion: report.Suggest(report.RaiseQueueCapability, "queue-closed"), remedy: []step{`kubectl patch queue NAME --subresource=status --type=merge -p {"status":{"state":"Closed"}}`},
		then: &cause{
			reason: report.QueueClosed, text: "queue queue-closed is not open", suggestion: report.Suggest(report.OpenQueue, "queue-closed"),
			remedy: []step{`kubectl patch queue NAME --type=merge -p {"spec":{"capability":{"cpu":"2"}}}`, `kubectl patch queue NAME --subresource=status --type=merge -p {"status":{"state":"Open"}}`},
		},
	}, {
		name: "quota", before: []step{`{apiVersion: v1, kind: ResourceQuota, metadata: {name: cpus}, spec: {hard: {requests.cpu: 1}}}`}, reason: report.ResourceQuota,
		text: "resource quota cpus of namespace quota has capacity for 1 of the 2 CPUs", missing: `"name":"requests.cpu"`, remedy: []step{`kubectl patch resourcequota cpus --type=merge -p {"spec":{"hard":{"requests.cpu":"2"}}}`},
		suggestion: report.Suggest(report.RaiseResourceQuota, "cpus"),
	}, {
		name: "overcommit", cpu: "1000", reason: report.Overcommit, text: "cluster has capacity for", missing: `"name":"cpu"`, suggestion: report.Suggestion{Kind: report.LowerRequest},
		remedy: []step{`kubectl patch paddlejob job --type=json -p [{"op":"replace","path":"/spec/worker/template/spec/containers/0/resources/requests/cpu","value":"1"}]`},
	}, {
		name: "gates", pod: "schedulingGates: [{name: example.com/data}]", reason: report.SchedulingGated, text: "scheduling gates", missing: `"missing":2`,
		suggestion: report.Suggest(report.RemoveSchedulingGate, "example.com/data"),
		remedy: []step{`kubectl patch pod job-worker-0 --type=json -p [{"op":"remove","path":"/spec/schedulingGates"}]`,
			`kubectl patch pod job-worker-1 --type=json -p [{"op":"remove","path":"/spec/schedulingGates"}]`},
	}, {
		name: "topology", apart: true, cpu: "3", spec: "schedulingPolicy: {networkTopology: {mode: hard, highestTierAllowed: 1}}", reason: report.TopologyConstraint, text: "networkTopology hard, tier 1",
		missing: `"role":"worker"`, suggestion: report.Suggestion{Kind: report.AllowTier},
		remedy: []step{`kubectl patch paddlejob job --type=merge -p {"spec":{"schedulingPolicy":{"networkTopology":{"highestTierAllowed":2}}}}`},
	}, {
		name: "colocation", apart: true, cpu: "3", reason: report.ColocationConstraint, text: "colocation Required", suggestion: report.Suggestion{Kind: report.AllowColocationPreferred},
		spec: `ps: {replicas: 1, template: {spec: {nodeSelector: {cause: NAME}, containers: [{name: paddle, image: paddle, resources: {requests: {cpu: 1}}}]}}}
  schedulingPolicy: {colocation: Required}`,
		remedy: []step{`kubectl patch paddlejob job --type=merge -p {"spec":{"schedulingPolicy":{"colocation":"Preferred"}}}`},
	}, {
		name: "devices", workers: 1, pod: "resourceClaims: [{name: card, resourceClaimName: card}]", reason: report.ResourceClaimNotFound, text: "ResourceClaim card does not exist",
		missing: `"kind":"ResourceClaim"`, suggestion: report.Suggest(report.CreateObject, "ResourceClaim card"), remedy: []step{device, devices},
		then: &cause{reason: report.ResourceClaimNotAllocatable, text: "the devices for ResourceClaim card are free on none of", remedy: []step{slice}},
	}, {
		name: "priority", pod: "priorityClassName: NAME", reason: lifecycle.ReasonPriorityClassNotFound, text: `priority class "priority" does not exist`,
		missing: `"objects":[{"kind":"PriorityClass","name":"priority"}]`, suggestion: report.Suggest(report.CreateObject, "PriorityClass priority"),
		remedy: []step{`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: NAME}, value: 1}`},
	}, {
		name: "pod-security", before: []step{"kubectl label namespace NAME pod-security.kubernetes.io/enforce=restricted"}, reason: lifecycle.ReasonPodSecurityViolation,
		text: `violates PodSecurity "restricted:latest"`, suggestion: report.Suggestion{Kind: describe.ChangePodTemplate},
		remedy: []step{"kubectl label namespace NAME --overwrite pod-security.kubernetes.io/enforce=privileged"},
	},
}

// withoutPods is the cause of a gang whose pods Volcano does not create.
var withoutPods = cause{name: "without-pods", reason: report.WaitingForPods, text: "2 of 2 workers do not exist yet", missing: `"missing":2`}

// overused is the cause of a job whose queue has its share of a cluster that other queues want too. Only the plugin proportion
// knows it.
var overused = cause{
	name: "overused", spec: "schedulingPolicy: {queue: NAME}", reason: report.QueueOverused, text: "queue overused has used up its share of the cluster",
	before: []step{
		queue("NAME", ""), queue("wants-all", ", weight: 60000"),
		// Has what the queue's weight is worth, and more.
		`{apiVersion: batch.paddlepaddle.org/v1, kind: PaddleJob, metadata: {name: first}, spec: {schedulingPolicy: {queue: NAME}, worker: {replicas: 1,
  template: {spec: {nodeSelector: {cause: NAME}, containers: [{name: paddle, image: paddle, resources: {requests: {cpu: 1, memory: 1Gi}}}]}}}}}`,
		"kubectl wait paddlejob/first --for=condition=Running --timeout=1m",
		// Fits no node, and so goes on wanting more than the cluster has.
		`{apiVersion: apps/v1, kind: Deployment, metadata: {name: wants-all}, spec: {replicas: MANY, selector: {matchLabels: {app: wants-all}}, template: {
  metadata: {labels: {app: wants-all}, annotations: {scheduling.volcano.sh/queue-name: wants-all}}, spec: {schedulerName: volcano, nodeSelector: {cause: none},
  containers: [{name: main, image: main, resources: {requests: {cpu: 4, memory: 16Gi}}}]}}}}`,
		"kubectl wait deployment/wants-all --for=jsonpath={.status.replicas}=MANY --timeout=1m",
	},
	suggestion: report.Suggest(report.UseAnotherQueue, "overused"),
	remedy:     []step{`kubectl patch queue NAME --type=merge -p {"spec":{"weight":60000}}`},
}

// manifest is the cause's job.
func (c *cause) manifest() string {
	container := "name: paddle, image: paddle, resources: {requests: {cpu: CPU, memory: 1Gi}, limits: {memory: 1Gi}}"
	if c.name == "host-port" {
		container += ", ports: [{containerPort: 8080, hostPort: 8080}]"
	}
	if c.name == "devices" {
		container = strings.Replace(container, "limits: ", "claims: [{name: card}], limits: ", 1)
	}
	pod := "nodeSelector: {cause: NAME}, containers: [{" + container + "}]"
	if c.pod != "" {
		pod += ",\n      " + c.pod
	}
	cpu, workers := c.cpu, c.workers
	if cpu == "" {
		cpu = "1"
	}
	if workers == 0 {
		workers = 2
	}
	return strings.NewReplacer("CPU", cpu, "NAME", c.name).Replace(fmt.Sprintf(`apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: job}
spec:
  worker:
    replicas: %d
    template: {spec: {%s}}
  %s
`, workers, pod, c.spec))
}

func TestCauses(t *testing.T) {
	t.Parallel()
	requireKubectl(t)
	for i := range causes {
		c := &causes[i]
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := c.submit(t)
			for now := c; now != nil; now = now.then {
				now.waits(t, u)
				for _, s := range now.remedy {
					require.NoError(t, s.run(t.Context(), u, c.name))
				}
			}
			u.awaitRunning(t)
		})
	}
}

func TestGangWithoutPods(t *testing.T) {
	requireKubectl(t)
	require.NoError(t, cluster.Kill(sandbox.VolcanoController, syscall.SIGTERM))
	start := sync.OnceFunc(func() { require.NoError(t, cluster.StartComponent(sandbox.VolcanoController)) })
	t.Cleanup(start)
	u := withoutPods.submit(t)
	withoutPods.waits(t, u)
	start()
	u.awaitRunning(t)
}

func TestQueueThatHasItsShare(t *testing.T) {
	requireKubectl(t)
	configure := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(cluster.StateDir(), "volcano-scheduler.conf"), []byte(text), 0o644))
	}
	configure(strings.Replace(configuration, "capacity\n    enableHierarchy: true", "proportion", 1))
	t.Cleanup(func() { configure(configuration) })
	u := overused.submit(t)
	overused.waits(t, u)
	for _, s := range overused.remedy {
		require.NoError(t, s.run(t.Context(), u, overused.name))
	}
	u.awaitRunning(t)
	_, err := u.kubectl(t.Context(), "", "delete", "deployment/wants-all", "paddlejob/first", "paddlejob/job")
	require.NoError(t, err)
}

// submit makes the cause and submits its job.
func (c *cause) submit(t *testing.T) user {
	t.Helper()
	u := user(cluster.NamespaceNamed(t, c.name))
	for _, s := range c.before {
		require.NoError(t, s.run(t.Context(), u, c.name))
	}
	_, err := u.paddle(t.Context(), c.manifest(), "submit", "-f", "-")
	require.NoError(t, err)
	return u
}

// awaitRunning waits until the job runs once a remedy is followed.
func (u user) awaitRunning(t *testing.T) {
	t.Helper()
	cluster.Await(t, "the job to run once the remedy is followed", func(ctx context.Context) error {
		job, err := cluster.Paddle.BatchV1().PaddleJobs(string(u)).Get(ctx, "job", metav1.GetOptions{})
		if err == nil && job.Status.Phase != v1.Running {
			why, _ := u.paddle(ctx, "", "why", "job")
			err = fmt.Errorf("it is %s: %s", job.Status.Phase, why)
		}
		return err
	})
}

// waits waits until each surface says why the job waits.
func (c *cause) waits(t *testing.T, u user) {
	t.Helper()
	cluster.Await(t, "kubectl paddle why -o json to say "+string(c.reason), func(ctx context.Context) error {
		out, err := u.paddle(ctx, "", "why", "job", "-o", "json")
		if err != nil {
			return err
		}
		var told describe.Description
		if err := json.Unmarshal([]byte(out), &told); err != nil {
			return err
		}
		missing, err := json.Marshal(told.Missing)
		if err != nil || told.Reason != string(c.reason) || !strings.Contains(string(missing), c.missing) || !suggests(told.Suggestions, c.suggestion) {
			return errors.Join(err, fmt.Errorf("it says %s", out))
		}
		return nil
	})
	var why string
	cluster.Await(t, "kubectl paddle why to say "+string(c.reason), func(ctx context.Context) (err error) {
		why, err = u.paddle(ctx, "", "why", "job")
		if err == nil && (!strings.Contains(strings.ToLower(why), strings.ToLower(c.text)) || !strings.Contains(why, string(c.reason)) || !strings.Contains(why, "What helps:")) {
			err = fmt.Errorf("it says %s", why)
		}
		return err
	})
	t.Logf("$ kubectl paddle why job\n%s", why)
	cluster.Await(t, "kubectl describe pdj to say "+string(c.reason), func(ctx context.Context) error {
		out, err := u.kubectl(ctx, "", "describe", "pdj", "job")
		if err == nil && !strings.Contains(out, string(c.reason)) {
			err = fmt.Errorf("it says %s", out)
		}
		return err
	})
}

// suggests reports whether one suggestion is of a kind and, where that is given, has a value.
func suggests(all []report.Suggestion, wanted report.Suggestion) bool {
	for _, s := range all {
		if s.Kind == wanted.Kind && (wanted.Value == "" || s.Value == wanted.Value) && s.Text != "" {
			return true
		}
	}
	return wanted.Kind == ""
}
