// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"sync"

	"k8s.io/klog/v2"
)

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

// logArguments logs wrong arguments once per change of the configuration, and counts them.
func logArguments(err error) {
	var wrong []error
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		wrong = joined.Unwrap()
	}
	countArgumentErrors(len(wrong))
	if argumentErrors.changed(err) && err != nil {
		klog.ErrorS(err, "Wrong arguments of the plugin in volcano-scheduler.conf", "plugin", PluginName)
	}
}
