// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/programs"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// kinds counts objects by kind.
func kinds(all []*unstructured.Unstructured) map[string]int {
	count := map[string]int{}
	for _, o := range all {
		count[o.GetKind()]++
	}
	return count
}

// field returns a field of an object as YAML.
func field(t *testing.T, o *unstructured.Unstructured, path ...string) string {
	t.Helper()
	value, _, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	require.NoError(t, err)
	text, err := yaml.Marshal(value)
	require.NoError(t, err)
	return strings.TrimSpace(string(text))
}

// All schedulers get the same pods, and each that knows topology a rack that is required.
func TestGangsAreTheSame(t *testing.T) {
	t.Parallel()
	for _, kubernetes := range []string{kubernetes134, kubernetes137} {
		for _, name := range schedulers(kubernetes) {
			for _, jobs := range []bool{true, false} {
				p, err := newPeer(name, kubernetes, jobs)
				require.NoError(t, err)
				require.True(t, p.options.WithoutController)
				require.Equal(t, kubernetes == kubernetes137, p.options.APIServer != nil)
				all, err := p.submitted(jobs, gang{Namespace: "ns", Name: "g1", Size: 3}, gang{Namespace: "ns", Name: "g2", Size: 3})
				require.NoError(t, err)
				count := kinds(all)
				if jobs && count["Job"] > 0 {
					require.Equal(t, map[string]int{"Job": 2}, count, name)
				} else {
					require.Equal(t, 6, count["Pod"], name)
				}
				required := false
				for _, o := range all {
					require.Equal(t, "ns", o.GetNamespace())
					text := field(t, o)
					if strings.Contains(text, "containers:") {
						require.Contains(t, text, `nvidia.com/gpu: "1"`)
						require.Contains(t, text, "restartPolicy: Never")
					}
					required = required || strings.Contains(text, topology.LabelRack) || strings.Contains(text, "highestTierAllowed: 1")
				}
				require.Equal(t, name != stock && name != tuned, required, name)
			}
		}
	}
}

// The configurations of Volcano are its installer's, and what they say that they add.
func TestConfigurationsOfVolcanoAreShipped(t *testing.T) {
	t.Parallel()
	installed, err := manifests.VolcanosScheduler(t.Context())
	require.NoError(t, err)
	i := slices.IndexFunc(installed, func(o *unstructured.Unstructured) bool { return o.GetKind() == "ConfigMap" })
	require.NotEqual(t, -1, i)
	shipped, _, err := unstructured.NestedString(installed[i].Object, "data", "volcano-scheduler.conf")
	require.NoError(t, err)
	for name, added := range map[string]string{
		networkTopologyAware: "- name: network-topology-aware",
		tuned:                "- name: nodeorder",
	} {
		p, err := newPeer(name, kubernetes134, true)
		require.NoError(t, err)
		var rest []string
		lines := strings.Split(p.options.SchedulerConf, "\n")[1:] // a comment
		for n := 0; n < len(lines); n++ {
			if strings.TrimSpace(lines[n]) == "arguments:" {
				require.Equal(t, added, strings.TrimSpace(lines[n-1]))
				for n+1 < len(lines) && strings.HasPrefix(lines[n+1], "      ") {
					n++
				}
				continue
			}
			if !strings.Contains(shipped, lines[n]) {
				require.Equal(t, added, strings.TrimSpace(lines[n]))
				continue
			}
			rest = append(rest, lines[n])
		}
		require.Equal(t, strings.TrimSpace(shipped), strings.TrimSpace(strings.Join(rest, "\n")))
	}
}

func TestHyperNodes(t *testing.T) {
	t.Parallel()
	all, err := objects("volcano-hypernodes.yaml", racksOf(load.Cluster(9*16+1).Nodes()))
	require.NoError(t, err)
	require.Len(t, all, 10+2)
	require.Equal(t, "rack-0", all[0].GetName())
	require.Contains(t, field(t, all[0], "spec"), "tier: 1\ntierName: rack")
	last := all[len(all)-1]
	require.Equal(t, "block-1", last.GetName())
	require.Contains(t, field(t, last, "spec", "members"), "name: rack-9")
	require.NotContains(t, field(t, last, "spec", "members"), "name: rack-0")
}

const someOfKueue = `apiVersion: v1
kind: Namespace
metadata: {name: kueue-system}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: a}
spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: s, path: /convert}}}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: b}
---
apiVersion: v1
kind: Service
metadata: {name: kueue-webhook-service}
spec: {ports: [{port: 443}]}
---
apiVersion: v1
kind: Service
metadata: {name: kueue-visibility-server}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: m}
webhooks:
- {name: x, clientConfig: {service: {name: s, path: /x}}}
- {name: y, clientConfig: {service: {name: s, path: /y}}}
`

func TestKueueIsReachedOnThisMachine(t *testing.T) {
	t.Parallel()
	needed, webhooks, err := kueueObjects([]byte(someOfKueue), 9443)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"Namespace": 1, "CustomResourceDefinition": 2, "Service": 1}, kinds(needed))
	require.Contains(t, field(t, needed[1], "spec", "conversion"), "port: 9443")
	require.NotContains(t, needed[2].Object, "spec")
	require.Equal(t, "externalName: localhost\ntype: ExternalName", field(t, needed[3], "spec"))
	require.Len(t, webhooks, 1)
	require.Equal(t, 2, strings.Count(field(t, webhooks[0], "webhooks"), "port: 9443"))
	_, _, err = kueueObjects([]byte("a: ["), 1)
	require.ErrorContains(t, err, "read Kueue's manifests")
}

func TestKueueIsRaised(t *testing.T) {
	t.Parallel()
	conf := func(raised, jobs bool) string {
		text, err := render("kueue.conf", map[string]any{"Ports": []int{1, 2, 3}, "Certificates": "/c", "Raised": raised, "Jobs": jobs})
		require.NoError(t, err)
		object := map[string]any{}
		require.NoError(t, yaml.UnmarshalStrict([]byte(text), &object))
		return text
	}
	require.Contains(t, conf(false, true), "clientConnection: {qps: 50, burst: 100}")
	require.Contains(t, conf(false, true), "frameworks: [batch/job]")
	require.Contains(t, conf(true, false), "clientConnection: {qps: -1, burst: -1}")
	require.Contains(t, conf(true, false), "Workload.kueue.x-k8s.io: 10")
	require.Contains(t, conf(true, false), "frameworks: [pod]")
}

// What is read from the modules of KAI and Kueue is what their programs need.
func TestManifestsOfTheModules(t *testing.T) {
	live.SkipUnlessAll(t)
	_, dir, err := programs.Module(t.Context(), kaiModule, kaiPath)
	require.NoError(t, err)
	all, err := kaiObjects(dir)
	require.NoError(t, err)
	require.Equal(t, map[string]int{
		"Namespace": 3, "ServiceAccount": 2, "Topology": 1, "CustomResourceDefinition": 6, "ClusterRole": 2, "ClusterRoleBinding": 2, "PriorityClass": 1, "Queue": 2,
	}, kinds(all))
	for _, o := range all {
		require.NotContains(t, field(t, o), "{{")
	}
	_, err = kaiObjects(t.TempDir())
	require.ErrorContains(t, err, "crds/*.yaml in KAI's module: there are none")

	_, dir, err = programs.Module(t.Context(), kueueModule, kueuePath)
	require.NoError(t, err)
	p, err := newPeer(kueue, kubernetes134, true)
	require.NoError(t, err)
	programs, err := sandbox.Build(t.Context(), p.options)
	require.NoError(t, err)
	rendered, err := exec.CommandContext(t.Context(), programs[kubectl], "kustomize", filepath.Join(dir, "config", "default")).Output()
	require.NoError(t, err)
	needed, webhooks, err := kueueObjects(rendered, 9443)
	require.NoError(t, err)
	count := kinds(needed)
	require.Equal(t, []int{11, 1, 1, 0}, []int{count["CustomResourceDefinition"], count["Service"], count["Secret"], count["Deployment"]})
	require.Equal(t, map[string]int{"MutatingWebhookConfiguration": 1, "ValidatingWebhookConfiguration": 1}, kinds(webhooks))
}
