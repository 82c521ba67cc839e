// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"errors"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/paddle-volcano/paddle-volcano/test/bench/audit"
)

// controllerUser is what the API server knows the controller by (deploy/v1/operator.yaml).
const controllerUser = "system:serviceaccount:paddle-system:paddle-controller-manager"

// auditPolicy has the API server write down what the controller writes, and nothing else.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  users: ["` + controllerUser + `"]
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`

// Writes are how often the controller wrote, by verb and resource, such as "update paddlejobs/status". Refused ones count
// too.
type Writes map[string]int

// count reads an audit log.
func count(log string) (writes Writes, events int, err error) {
	reader, err := audit.Open(log)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	writes = Writes{}
	err = reader.Each(func(e *auditv1.Event) {
		if e.User.Username != controllerUser || e.ObjectRef == nil {
			return
		}
		switch e.ObjectRef.Resource {
		case "events":
			events++
		case "leases": // leader election's
		default:
			writes[audit.What(e)]++
		}
	})
	return writes, events, err
}

func (w Writes) sum() (sum int) {
	for _, n := range w {
		sum += n
	}
	return sum
}
