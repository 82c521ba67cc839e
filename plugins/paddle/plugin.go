// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// PluginName is the name that enables the plugin in volcano-scheduler.conf.
const PluginName = "paddle"

type plugin struct{}

var _ framework.Plugin = &plugin{}

// New builds the plugin for one scheduling session.
func New(framework.Arguments) framework.Plugin {
	return &plugin{}
}

// Name implements framework.Plugin.
func (*plugin) Name() string { return PluginName }

// OnSessionOpen implements framework.Plugin.
func (*plugin) OnSessionOpen(*framework.Session) {}

// OnSessionClose implements framework.Plugin.
func (*plugin) OnSessionClose(*framework.Session) {}
