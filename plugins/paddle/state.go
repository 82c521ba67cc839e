// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"math"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/diagnose"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/history"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/reporter"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/status"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
)

// state is what outlives a session. Volcano builds a plugin for each session.
type state struct {
	options   topology.Options
	topology  *topology.Cache
	diagnoses *diagnose.Cache
	history   *history.History
	status    *status.Writer
	guard     *guard.Guard
}

func newState() *state {
	return &state{diagnoses: diagnose.NewCache(), status: status.NewWriter(), guard: guard.New()}
}

// startSession starts a session with so much time for planning.
func (s *state) startSession(ssn *framework.Session, budget time.Duration) {
	s.diagnoses.StartSession()
	s.status.StartSession()
	s.guard.StartSession(budget, ssn.Jobs)
	s.history.Watch(ssn.InformerFactory())
	s.history.ObserveEnded(ssn.Jobs)
}

// stateStore holds the state of one scheduler between its sessions. A session acquires and releases it. A second session at the
// same time gets a new state. A stateStore is safe for concurrent use.
type stateStore struct {
	mu    sync.Mutex
	state *state
	// history is shared by all states, because its informer handler is never removed.
	history *history.History
	// argumentErrors are those that were logged last.
	argumentErrors string

	// clock is nil but in tests: it is that of the machine.
	clock clock.PassiveClock
	// observe is called for each gang that is placed. It is nil but in simulations.
	observe reporter.Observer
	// inject is called where work that may fail begins. It is nil but in tests.
	inject func(of guard.Work, searches bool)
}

func (s *stateStore) acquire(a *config.Arguments) *state {
	s.mu.Lock()
	defer s.mu.Unlock()
	acquired := s.state
	if s.state = nil; acquired == nil {
		acquired = newState()
		if s.observe != nil { // a simulation diagnoses each job that waits
			acquired.diagnoses.Limit = math.MaxInt32
		}
	}
	if s.history == nil {
		s.history = history.New()
	}
	acquired.history, acquired.guard.Inject = s.history, s.inject
	if s.clock != nil {
		acquired.status.Clock = s.clock
	}
	options := topology.Options{
		Labels: a.TopologyLabels, Weights: a.TierWeights, IntraNodeWeight: a.IntraNodeWeight, Bandwidths: a.TierBandwidths,
		Accelerators: a.Accelerators,
	}
	if acquired.topology == nil || !reflect.DeepEqual(acquired.options, options) { // else the topology follows the cluster
		acquired.options, acquired.topology = options, topology.New(options)
	}
	return acquired
}

func (s *stateStore) release(released *state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = released
}

// logArguments counts errors of arguments, and logs them if they have changed: plugins are built again in each session, with the
// same arguments.
func (s *stateStore) logArguments(errs field.ErrorList) {
	metrics.SetArgumentErrors(len(errs))
	err, text := errs.ToAggregate(), ""
	if err != nil {
		text = err.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if text != "" && text != s.argumentErrors {
		klog.ErrorS(err, "Invalid arguments in volcano-scheduler.conf keep their defaults", "plugin", PluginName)
	}
	s.argumentErrors = text
}

// build builds plugins for the one scheduler that a process usually is.
var build = NewBuilder()

// New builds the plugin for one scheduling session. Invalid arguments are logged and keep their defaults.
func New(raw framework.Arguments) framework.Plugin { return build(raw) }

// NewBuilder returns a function like New with separate state, for a process that runs several schedulers.
func NewBuilder() framework.PluginBuilder { return newBuilder(&stateStore{}) }

// NewSimulationBuilder is NewBuilder for a simulation: planning has no time limit, each job that waits is diagnosed, and observe
// is called for each gang that is placed.
func NewSimulationBuilder(observe reporter.Observer) framework.PluginBuilder {
	return newBuilder(&stateStore{observe: observe})
}

func newBuilder(store *stateStore) framework.PluginBuilder {
	return func(raw framework.Arguments) framework.Plugin {
		arguments, errs := config.Decode(raw, nil)
		store.logArguments(errs)
		return newPlugin(arguments, store)
	}
}
