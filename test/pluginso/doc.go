// SPDX-License-Identifier: Apache-2.0

// Package pluginso tests that Volcano's own scheduler loads the plugin from a file, as make plugin-so builds both; only tests live here.
package pluginso
