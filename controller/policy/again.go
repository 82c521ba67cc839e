// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// again starts a job over under another Volcano Job. The restart is in the status before the Volcano Job goes, because the
// next one is told from there how many there have been.
func (p *Plan) again(v *view.View) {
	p.retrying()
	if !p.count(v) || p.delay(v) {
		return
	}
	if v.Environment != nil {
		p.remove(KindConfigMap, v.Environment)
	}
	p.recreate(v)
}
