// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strconv"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// longestList is how long a list in a variable may be. Linux refuses to start a program with a variable of more than
// 32 pages of 4 KiB (MAX_ARG_STRLEN), its name included, for which there is room left.
const longestList = 128<<10 - 64

// mostPods is how many pods a role can have so that the lists of them fit into a variable each: ours of endpoints, and
// the one of host names that Volcano's svc plugin gives every container (VC_{ROLE}_HOSTS).
func mostPods(job, role string, intranet v1.Intranet) int {
	most := 0
	for digits, count := 1, 10; digits <= 6; digits, count = digits+1, count*10 {
		host := len(podName(job, role, 0)) - 1 + digits + len(".") + len(job)
		entry := max(host, len("255.255.255.255:")+len(strconv.Itoa(firstPort)))
		if intranet == v1.Service {
			entry = host + len(":") + len(strconv.Itoa(firstPort))
		}
		most = max(most, min(count, longestList/(entry+len(","))))
	}
	return most
}
