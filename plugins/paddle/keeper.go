// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"math"
	"reflect"
	"sync"

	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/diagnose"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/history"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/status"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
)

// state is what outlives a session: plugins are built anew for each.
type state struct {
	options topology.Options
	network *topology.Cache

	diagnoses *diagnose.Cache
	warnings  *topologyWarnings
	history   *history.History
	status    *status.Writer
	guard     *guard.Guard
}

func newState() *state {
	return &state{diagnoses: diagnose.NewCache(), warnings: &topologyWarnings{}, status: status.NewWriter(), guard: newGuard()}
}

// networkOf is the network, a new one if the arguments that make it have changed.
func (s *state) networkOf(options topology.Options) *topology.Cache {
	if s.network == nil || !reflect.DeepEqual(s.options, options) {
		s.options, s.network = options, topology.New(options)
	}
	return s.network
}

// keeper keeps the state of one scheduler between its sessions. A session takes it and puts it back; one that comes while
// it is taken gets a state of its own. It is safe for concurrent use.
type keeper struct {
	mu    sync.Mutex
	state *state
	// history is one for all states: what follows pods is never taken away.
	history *history.History
	// observe is told each gang that is placed; nil for nobody.
	observe func(api.JobID, Placement)
	// inject is called where work that may fail begins; nil but in tests.
	inject func(of guard.Work, searches bool)
}

func (k *keeper) take() *state {
	k.mu.Lock()
	defer k.mu.Unlock()
	taken := k.state
	if k.state = nil; taken == nil {
		taken = newState()
		if k.observe != nil { // who replays asks why a job waits, and has the time
			taken.diagnoses.Limit = math.MaxInt32
		}
	}
	if k.history == nil {
		k.history = history.New()
	}
	taken.history, taken.guard.Inject = k.history, k.inject
	return taken
}

func (k *keeper) put(s *state) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state = s
}

// builder builds plugins for the one scheduler that a process usually is.
var builder = NewBuilder()

// New builds the plugin for one scheduling session. Wrong arguments are logged and left at their defaults.
func New(raw framework.Arguments) framework.Plugin { return builder(raw) }

// NewBuilder returns a function like New with a state of its own, for a process that runs several schedulers.
func NewBuilder() framework.PluginBuilder { return buildOn(&keeper{}) }

func buildOn(kept *keeper) framework.PluginBuilder {
	return func(raw framework.Arguments) framework.Plugin {
		arguments, errs := config.Decode(raw, nil)
		logArguments(errs)
		return newPlugin(newArguments(arguments), kept)
	}
}
