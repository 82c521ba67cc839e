// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"os"
	"regexp"
	"strconv"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// Memory is what a component has in memory now, and the most that it ever had, in MiB (proc(5), VmRSS and VmHWM).
func (p *Plane) Memory(component string) (now, most float64, err error) {
	for _, c := range sandbox.ComponentStatuses(p.StateDir()) {
		if c.Name != component {
			continue
		}
		text, err := os.ReadFile("/proc/" + c.Process + "/status")
		if err != nil {
			return 0, 0, fmt.Errorf("read the memory of %s: %w", component, err)
		}
		if now, most, err = parseMemory(string(text)); err != nil {
			return 0, 0, fmt.Errorf("read the memory of %s: %w", component, err)
		}
		return now, most, nil
	}
	return 0, 0, fmt.Errorf("read the memory of %s: the sandbox runs none", component)
}

func parseMemory(status string) (now, most float64, err error) {
	for line, into := range map[string]*float64{"VmRSS": &now, "VmHWM": &most} {
		found := regexp.MustCompile(`(?m)^` + line + `:\s+(\d+) kB$`).FindStringSubmatch(status)
		if found == nil {
			return 0, 0, fmt.Errorf("its status has no %s", line)
		}
		kib, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			return 0, 0, fmt.Errorf("its %s: %w", line, err)
		}
		*into = kib / 1024
	}
	return now, most, nil
}
