// SPDX-License-Identifier: Apache-2.0

// Package builder turns a PaddleJob into the objects that run it: a Volcano Job, its PodGroup and the ConfigMap of the
// environment. It is pure: no API calls, no clock, the same input gives the same bytes.
//
// # Precedence
//
//   - Queue, priority class and minimum: spec.schedulingPolicy, then the PodGroup that the user made under the job's
//     name (PodGroupOverrides), then the default: queue "default", no priority class, all pods.
//   - Labels, annotations: the controller's, then those of the PaddleJob (on the Volcano Job and its PodGroup) or of the template
//     (on pods). kubectl's last-applied annotation is not passed on.
//   - Environment of container 0: what the template has in env, then the controller's direct variables, then what the template has in
//     envFrom, then the job's ConfigMap. Other containers are not changed.
//   - Templates: the user's, but for what is unset and must not stay so (restartPolicy, dnsPolicy with hostNetwork,
//     priorityClassName, requests where there is a limit), and restartPolicy Always, which becomes Never.
//
// A field that is changed or has no effect is a warning. Validate refuses a job that cannot run.
package builder
