// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/klog/v2"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// Keys of the plugin's arguments in volcano-scheduler.conf. Each holds task names, separated by commas, that mean the
// role besides the names known already.
const (
	argServerTasks = "server-tasks"
	argWorkerTasks = "worker-tasks"
	argHeterTasks  = "heter-tasks"
)

var argRoles = map[string]role{argServerTasks: roleServer, argWorkerTasks: roleWorker, argHeterTasks: roleHeter}

// arguments are the plugin's arguments, checked.
type arguments struct {
	// taskRoles is the role of each known task name.
	taskRoles map[string]role
}

// defaultArguments is what holds where volcano-scheduler.conf says nothing.
func defaultArguments() arguments {
	return arguments{taskRoles: maps.Clone(defaultTaskRoles)}
}

// parseArguments reads the arguments. Each wrong one is named in the error and left at its default.
func parseArguments(raw framework.Arguments) (arguments, error) {
	parsed := defaultArguments()
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		role, known := argRoles[key]
		if !known {
			errs = append(errs, fmt.Errorf("unknown argument %q: it does nothing; known are %s", key,
				strings.Join(slices.Sorted(maps.Keys(argRoles)), ", ")))
			continue
		}
		names, err := taskNames(raw[key], role, parsed.taskRoles)
		if err != nil {
			errs = append(errs, fmt.Errorf("argument %q is ignored: %w", key, err))
			continue
		}
		for _, name := range names {
			parsed.taskRoles[name] = role
		}
	}
	return parsed, errors.Join(errs...)
}

// taskNames splits a list of task names and refuses those that already mean another role.
func taskNames(value any, wanted role, known map[string]role) ([]string, error) {
	text, ok := value.(string)
	if !ok {
		return nil, fmt.Errorf("%v is not a text; write task names separated by commas", value)
	}
	names := strings.Split(text, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
		if names[i] == "" {
			return nil, fmt.Errorf("%q holds an empty task name", text)
		}
		if other, ok := known[names[i]]; ok && other != wanted {
			return nil, fmt.Errorf("task name %q means %s already", names[i], other)
		}
	}
	return names, nil
}

// argumentErrors remembers what was logged: plugins are built anew each second, with the same arguments.
var argumentErrors lastMessage

// lastMessage holds one message, so that it can be told apart from the next. It is safe for concurrent use.
type lastMessage struct {
	mu   sync.Mutex
	text string
}

// changed stores the message of err, "" for nil, and tells whether it differs from the one before.
func (m *lastMessage) changed(err error) bool {
	text := ""
	if err != nil {
		text = err.Error()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.text == text {
		return false
	}
	m.text = text
	return true
}

// logArguments logs wrong arguments once per change of the configuration.
func logArguments(err error) {
	if argumentErrors.changed(err) && err != nil {
		klog.ErrorS(err, "Wrong arguments of the plugin in volcano-scheduler.conf", "plugin", PluginName)
	}
}
