// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/usage"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// peer is a scheduler with the other programs of its system.
type peer struct {
	// module is the folder of the module that pins it. path is its own module, whose version it has.
	module, path string
	// options are those of its sandbox.
	options sandbox.Options
	// install creates objects and adds components, none of which runs afterwards. begin is called before the components are started.
	install, begin func(ctx context.Context, at *site) error
	// components place the pods, and users are who they are to the API server.
	components, users []string
	// helpers are components of the sandbox that belong to the system, and helperUsers who they are.
	helpers, helperUsers []string
	// job and pods are the files of a gang: as users submit it, and with all pods.
	job, pods string
	// required reports whether a job of Volcano's requires a rack.
	required bool
}

// schedulers returns the names of those that are compared on a version of the API server.
func schedulers(kubernetes string) []string {
	return map[string][]string{
		kubernetes134: {paddle, networkTopologyAware, stock, tuned, kai, kaiRaised, kueue, kueueRaised},
		kubernetes137: {paddle, stock, kubeScheduler137},
	}[kubernetes]
}

// newPeer returns a scheduler of a name that [schedulers] has. jobs reports whether a turn is from end to end.
func newPeer(name, kubernetes string, jobs bool) (p *peer, err error) {
	switch name {
	case kai, kaiRaised:
		p = newKAI(name == kaiRaised)
	case kueue, kueueRaised:
		p = newKueue(name == kueueRaised, jobs)
	case kubeScheduler137:
		p = newKubeScheduler()
	default:
		if p, err = newVolcano(name); err != nil {
			return nil, err
		}
	}
	p.options.WithoutController = true
	if kubernetes == kubernetes137 {
		use137(&p.options)
	}
	return p, nil
}

// gang is what the files of a gang are rendered with.
type gang struct {
	Namespace, Name string
	Size            int
	Required        bool
}

// Pods returns the names of the pods.
func (g gang) Pods() []string {
	names := make([]string, g.Size)
	for i := range names {
		names[i] = g.Name + "-worker-" + strconv.Itoa(i)
	}
	return names
}

// submitted returns the objects of gangs, as jobs or with all pods.
func (p *peer) submitted(jobs bool, gangs ...gang) (all []*unstructured.Unstructured, err error) {
	file := p.pods
	if jobs {
		file = p.job
	}
	for _, g := range gangs {
		g.Required = p.required
		found, err := objects(file, g)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// texts are templates of manifests and configurations.
//
//go:embed files
var texts embed.FS

var templates = template.Must(template.ParseFS(texts, "files/*"))

func render(file string, data any) (string, error) {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, file, data); err != nil {
		return "", fmt.Errorf("render %s: %w", file, err)
	}
	return out.String(), nil
}

func objects(file string, data any) ([]*unstructured.Unstructured, error) {
	text, err := render(file, data)
	if err != nil {
		return nil, err
	}
	all, err := manifests.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return all, nil
}

// used returns the processor seconds and the peak memory of all processes of the system.
func (p *peer) used(processes map[string]usage.Process) (cpu, peak float64) {
	for _, name := range slices.Concat(p.components, p.helpers) {
		cpu, peak = cpu+processes[name].CPU, peak+processes[name].Peak
	}
	return cpu, peak
}

// writes returns the number of requests with which the system has changed objects.
func (p *peer) writes(calls times.Calls) (sum int) {
	for _, user := range slices.Concat(p.users, p.helperUsers) {
		for what, n := range calls[user] {
			verb, _, _ := strings.Cut(what, " ")
			if slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, verb) {
				sum += n
			}
		}
	}
	return sum
}
