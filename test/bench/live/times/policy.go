// SPDX-License-Identifier: Apache-2.0

package times

// Policy is the audit policy (audit.k8s.io/v1) that a History needs. The API server logs every request, with the bodies of those that
// are read or repeated. Leases are left out, because every scheduler renews them.
const Policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
omitManagedFields: true
rules:
- level: None
  nonResourceURLs: ["*"]
- level: None
  resources: [{group: coordination.k8s.io}]
- level: Request
  resources: [{resources: ["pods/binding"]}]
- level: Request
  users: ["paddle-sandbox:kwok"]
  resources: [{resources: ["pods/status"]}]
- level: Metadata
`
