// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/launch"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/pki"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/ports"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

// startLimit is generous: a ready sandbox takes seconds, also on a busy machine less than a minute, and about 20 ms more
// for each node.
func startLimit(nodes int) time.Duration {
	return 5*time.Minute + time.Duration(nodes)*100*time.Millisecond
}

// Start builds what is missing, starts a sandbox and returns it when pods can be scheduled in it. It lives until Stop,
// or until this process ends; ctx bounds the start only.
func Start(ctx context.Context, o Options) (*Sandbox, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := o.allowed(); err != nil {
		return nil, err
	}
	m, err := loadManifests(ctx, &o)
	if err != nil {
		return nil, err
	}
	lock, err := layout(o.StateDir).claim()
	if err != nil {
		return nil, err
	}
	nodes := o.simulatedNodes()
	s := &Sandbox{
		layout: layout(o.StateDir), progress: o.progress(), lock: lock, ports: &ports.Set{},
		components: map[string]component{}, addresses: map[string]string{}, processes: map[string]*process{}, failed: make(chan error, 1),
	}
	s.record = &Record{PID: os.Getpid(), Started: time.Now(), Kubeconfig: s.Kubeconfig(), Nodes: len(nodes)}
	st := &starter{Sandbox: s, options: &o, manifests: m, nodes: nodes}
	if err := st.run(ctx); err != nil {
		s.mu.Lock()
		s.record.Failure = err.Error()
		s.mu.Unlock()
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (st *starter) run(ctx context.Context) error {
	if err := st.layout.write(st.record); err != nil {
		return err
	}
	binaries, err := Build(ctx, *st.options)
	if err != nil {
		return err
	}
	st.binaries = binaries
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := startLimit(len(st.nodes))
	timer := time.AfterFunc(limit, func() { cancel(fmt.Errorf("the sandbox was not ready after %s", limit)) })
	defer timer.Stop()
	// A component that dies ends every wait at once.
	go func() {
		select {
		case err := <-st.failed:
			cancel(err)
			st.report(err)
		case <-ctx.Done():
		}
	}()
	began := time.Now()
	if err := st.prepare(); err != nil {
		return err
	}
	st.progress.say("starting etcd and kube-apiserver")
	if err := st.startServers(ctx); err != nil {
		return err
	}
	st.progress.say("installing the CRDs and permissions of Volcano and paddle-volcano, and %d nodes", len(st.nodes))
	if err := st.install(ctx); err != nil {
		return err
	}
	st.progress.say("starting kube-controller-manager, kwok, Volcano and paddle-volcano")
	if err := st.startClients(ctx); err != nil {
		return err
	}
	group, waits := errgroup.WithContext(ctx)
	for _, wait := range []func(context.Context) error{
		st.cluster.nodesReady, st.cluster.webhooksReady, st.cluster.queueReady, st.cluster.namespaceReady, st.controllerReady, st.realReady,
	} {
		group.Go(func() error { return wait(waits) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	st.mu.Lock()
	st.record.Ready = true
	err = st.layout.write(st.record)
	st.mu.Unlock()
	if err != nil {
		return err
	}
	st.progress.say("ready after %.1f s: %d nodes", time.Since(began).Seconds(), len(st.nodes))
	return nil
}

// install creates the CRDs first: kube-controller-manager, which is started afterwards, then knows them at once.
func (st *starter) install(ctx context.Context) error {
	volcano := st.manifests.volcano.Prerequisites()
	if err := launch.RedirectWebhooks(volcano, "https://"+address(st.webhookPort), st.ca.PEM); err != nil {
		return err
	}
	if st.manifests.scheduler != nil {
		// paddle-scheduler may run under the name of Volcano's, and its own permissions must be sufficient.
		d, err := st.manifests.scheduler.Deployment("")
		if err != nil {
			return err
		}
		run := launch.CommandOf(d, nil)
		volcano = launch.WithoutBindings(volcano, run.Namespace, run.Account)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return st.cluster.applyCRDs(ctx, st.manifests.crds) })
	group.Go(func() error { return st.cluster.createNodes(ctx, st.nodes) })
	scheduler, err := shownScheduler(st.schedulerManifest())
	if err != nil {
		return err
	}
	group.Go(func() error {
		// The project's objects come last, so that they win where they change objects of Volcano's installer.
		for _, objects := range [][]*unstructured.Unstructured{
			slices.Concat(volcano, kwokPermissions(), st.realPermissions()), prerequisitesOf(st.manifests.operator), append(prerequisitesOf(st.manifests.scheduler), scheduler),
		} {
			if err := st.cluster.apply(ctx, objects); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// shownScheduler returns a Deployment that shows how the scheduler is configured. It has no replicas: the scheduler is a process.
func shownScheduler(m *launch.Manifest) (*unstructured.Unstructured, error) {
	d, err := m.Deployment("volcano-scheduler")
	if err != nil {
		return nil, err
	}
	d.Name, d.Spec.Replicas, d.Labels = "sandbox-scheduler", ptr.To[int32](0), nil
	d.Spec.Template.Labels = map[string]string{"app": d.Name}
	d.Spec.Selector = metav1.SetAsLabelSelector(d.Spec.Template.Labels)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(d)
	if err != nil {
		return nil, fmt.Errorf("write Deployment %s: %w", d.Name, err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

func prerequisitesOf(m *launch.Manifest) []*unstructured.Unstructured {
	if m == nil {
		return nil
	}
	return m.Prerequisites()
}

// starter holds what is known only while a sandbox starts.
type starter struct {
	*Sandbox
	options     *Options
	manifests   *manifests
	nodes       []*corev1.Node
	ca          *pki.Authority
	server      string
	webhookPort int
	real        realStart
}

// recyclerPod empties a volume that its claim has given back: nothing is there to empty.
const recyclerPod = `apiVersion: v1
kind: Pod
metadata:
  generateName: recycler-
  namespace: default
  annotations:
    ` + stages.AnnotationRunFor + `: 1s
spec:
  schedulerName: volcano
  restartPolicy: Never
  volumes:
  - name: vol
  containers:
  - name: recycler
    image: recycler
    volumeMounts:
    - name: vol
      mountPath: /scrub
`

// prepare writes every file that needs no API server.
func (st *starter) prepare() error {
	var err error
	if st.ca, err = pki.NewAuthority(); err != nil {
		return err
	}
	if err := st.layout.writePKI(st.ca); err != nil {
		return err
	}
	kwok, err := stages.Config(st.options.WorkerRunFor)
	if err != nil {
		return err
	}
	conf, err := st.schedulerConf()
	if err != nil {
		return err
	}
	for path, text := range map[string]string{
		st.layout.kwokConf(): kwok, st.layout.schedulerConf(): conf, st.layout.recyclerPod(): recyclerPod,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write the state folder: %w", err)
		}
	}
	return nil
}

// schedulerConf returns what the scheduler's own manifest says, unless the options do.
func (st *starter) schedulerConf() (string, error) {
	if st.options.SchedulerConf != "" {
		return st.options.SchedulerConf, nil
	}
	return st.schedulerManifest().ConfigMapValue(schedulerConfigMap, "volcano-scheduler.conf")
}

func (st *starter) schedulerManifest() *launch.Manifest {
	if st.manifests.scheduler == nil {
		return st.manifests.volcano
	}
	return st.manifests.scheduler
}

// startServers starts etcd and the API server, and writes the kubeconfigs of those who come with certificates.
func (st *starter) startServers(ctx context.Context) error {
	numbers, err := st.takePorts(4)
	if err != nil {
		return err
	}
	etcd, peer, api := numbers[0], numbers[1], numbers[2]
	st.webhookPort = numbers[3]
	st.server = "https://" + address(api)
	if err := st.startBox(ctx, api); err != nil {
		return err
	}

	if err := st.add(component{name: Etcd, binary: st.binaries[programEtcd.Name], args: etcdArgs(st.layout, etcd, peer)}); err != nil {
		return err
	}
	if err := until(ctx, "etcd to be healthy", func(ctx context.Context) error { return healthy(ctx, "http://"+address(etcd)+"/health") }); err != nil {
		return err
	}
	if err := st.add(component{name: APIServer, binary: st.binaries[st.options.apiServer().Name], args: append(apiServerArgs(st.layout, api, etcd), st.realAPIServerArgs()...)}); err != nil {
		return err
	}
	admin, err := st.ca.Client("sandbox-admin", "system:masters")
	if err != nil {
		return err
	}
	if err := writeKubeconfig(st.Kubeconfig(), st.server, st.ca.PEM, "default", credentials{identity: admin}); err != nil {
		return err
	}
	for name, user := range map[string]string{ControllerManager: "system:kube-controller-manager", Kwok: kwokUser} {
		id, err := st.ca.Client(user)
		if err != nil {
			return err
		}
		if err := writeKubeconfig(st.layout.kubeconfig(name), st.server, st.ca.PEM, "", credentials{identity: id}); err != nil {
			return err
		}
	}
	st.config = adminConfig(st.server, st.ca.PEM, admin)
	if st.cluster, err = newCluster(st.config); err != nil {
		return err
	}
	return st.cluster.ready(ctx)
}

// startClients starts everything that talks to the API server.
func (st *starter) startClients(ctx context.Context) error {
	n := len(st.nodes)
	if err := st.add(component{name: ControllerManager, binary: st.binaries[programKCM.Name], args: controllerManagerArgs(st.layout, n)}); err != nil {
		return err
	}
	if err := st.add(component{name: Kwok, binary: st.binaries[programKwok.Name], args: append(kwokArgs(st.layout, n), st.realKwokArgs()...)}); err != nil {
		return err
	}
	if err := st.startNode(ctx); err != nil {
		return err
	}
	numbers, err := st.takePorts(6)
	if err != nil {
		return err
	}
	if err := st.addDeployed(ctx, VolcanoController, st.binaries[programVolcanoCM.Name], st.manifests.volcano, "volcano-controllers",
		volcanoControllerFlags(st.layout, numbers[0], numbers[1]), nil); err != nil {
		return err
	}
	if err := st.addDeployed(ctx, VolcanoWebhooks, st.binaries[programWebhooks.Name], st.manifests.volcano, "volcano-admission",
		webhookFlags(st.layout, st.webhookPort, numbers[2]), nil); err != nil {
		return err
	}
	if err := st.addDeployed(ctx, Scheduler, st.schedulerBinary(), st.schedulerManifest(), st.schedulerDeployment(),
		schedulerFlags(st.layout, Scheduler, st.layout.schedulerConf(), numbers[3], numbers[4]), nil); err != nil {
		return err
	}
	st.addresses[VolcanoController], st.addresses[Scheduler] = address(numbers[1]), address(numbers[4])
	if err := st.keepRivals(ctx); err != nil {
		return err
	}
	if len(st.manifests.trainer) > 0 {
		if err := st.startTrainer(ctx); err != nil {
			return err
		}
	}
	if st.options.WithoutController {
		return nil
	}
	st.addresses[Controller] = address(numbers[5])
	return st.addDeployed(ctx, Controller, st.binaries[programController.Name], st.manifests.operator, "",
		controllerFlags(st.layout, numbers[5]), st.options.ControllerArgs)
}

// schedulerDeployment returns the scheduler's name in Volcano's installer; the project's manifest has one Deployment only.
func (st *starter) schedulerDeployment() string {
	if st.manifests.scheduler == nil {
		return "volcano-scheduler"
	}
	return ""
}

func (st *starter) schedulerBinary() string {
	if st.options.StockScheduler {
		return st.binaries[programStock.Name]
	}
	return st.binaries[programScheduler.Name]
}

// addDeployed starts a component as its Deployment says.
func (st *starter) addDeployed(ctx context.Context, name, binary string, m *launch.Manifest, deployment string, override launch.Flags, more []string) error {
	c, err := st.deployed(ctx, name, binary, m, deployment, override)
	if err != nil {
		return err
	}
	c.args = append(c.args, more...)
	return st.add(c)
}

// deployed returns a component with the arguments, the variables and the service account of its Deployment.
func (st *starter) deployed(ctx context.Context, name, binary string, m *launch.Manifest, deployment string, override launch.Flags) (component, error) {
	d, err := m.Deployment(deployment)
	if err != nil {
		return component{}, err
	}
	run := launch.CommandOf(d, override)
	token, err := st.cluster.serviceAccountToken(ctx, run.Namespace, run.Account)
	if err != nil {
		return component{}, err
	}
	if err := writeKubeconfig(st.layout.kubeconfig(name), st.server, st.ca.PEM, run.Namespace, credentials{token: token}); err != nil {
		return component{}, err
	}
	return component{name: name, binary: binary, args: run.Args, env: append(run.Env, socketEnv)}, nil
}

// add makes a component part of the sandbox and starts it.
func (st *starter) add(c component) error {
	st.keep(c)
	return st.StartComponent(c.name)
}

// keep makes a component part of the sandbox, for StartComponent.
func (st *starter) keep(c component) {
	c.args, c.box = append(c.args, st.options.Args[c.name]...), st.box
	st.mu.Lock()
	defer st.mu.Unlock()
	st.components[c.name] = c
}

func (st *starter) takePorts(n int) ([]int, error) {
	if st.options.Real != nil {
		return st.takeBoxPorts(n)
	}
	return st.TakePorts(n)
}

func healthy(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // nothing is read from it
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}
