{{/* What the controller may do: "paddle.namespacedRules" and, with kubeflow.enabled, "paddle.kubeflowRules" where the jobs are,
"paddle.clusterRules" in the whole cluster. */}}

{{- define "paddle.namespacedRules" -}}
# PaddleJobs are the user's: their status is written, paddle-operator's finalizer taken off (patch), and those deleted
# whose ttlSecondsAfterFinished is over.
- apiGroups: [batch.paddlepaddle.org]
  resources: [paddlejobs]
  verbs: [get, list, watch, patch, delete]
- apiGroups: [batch.paddlepaddle.org]
  resources: [paddlejobs/status]
  verbs: [update]
# Where owners are protected (OwnerReferencesPermissionEnforcement, as in OpenShift), children need these.
- apiGroups: [batch.paddlepaddle.org]
  resources: [paddlejobs/finalizers]
  verbs: [update]
- apiGroups: [batch.volcano.sh]
  resources: [jobs/finalizers]
  verbs: [update]
- apiGroups: [batch.volcano.sh]
  resources: [jobs]
  verbs: [get, list, watch, create, patch, delete]
# A job whose end Volcano has missed is ended by command.
- apiGroups: [bus.volcano.sh]
  resources: [commands]
  verbs: [create]
- apiGroups: [scheduling.volcano.sh]
  resources: [podgroups]
  verbs: [list, watch, create, patch, delete]
# Volcano creates the pods. The controller deletes those of finished jobs as cleanPodPolicy says.
- apiGroups: [""]
  resources: [pods]
  verbs: [list, watch, delete]
# Annotations tell pods their ports with intranet Host, and Volcano that deleted elastic workers have not failed. They are
# written through the status, because a patch of the pod itself could change its image.
- apiGroups: [""]
  resources: [pods/status]
  verbs: [patch]
# The annotation with the queue of jobs that name none.
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch, create, update, delete]
# Services are Volcano's too; those that paddle-operator made are deleted.
- apiGroups: [""]
  resources: [services]
  verbs: [get, list, delete]
# Why a job has no pods, Volcano says in an event alone (list).
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch, list]
{{- end }}

{{- define "paddle.kubeflowRules" -}}
# Each PaddleJob of Kubeflow has one of batch.paddlepaddle.org. It is deleted when its ttlSecondsAfterFinished is over.
- apiGroups: [batch.paddlepaddle.org]
  resources: [paddlejobs]
  verbs: [create, update]
- apiGroups: [kubeflow.org]
  resources: [paddlejobs]
  verbs: [get, list, watch, delete]
- apiGroups: [kubeflow.org]
  resources: [paddlejobs/status]
  verbs: [update]
- apiGroups: [kubeflow.org]
  resources: [paddlejobs/finalizers]
  verbs: [update]
{{- end }}

{{- define "paddle.clusterRules" -}}
- apiGroups: [scheduling.volcano.sh]
  resources: [queues]
  verbs: [list, watch]
- apiGroups: [scheduling.k8s.io]
  resources: [priorityclasses]
  verbs: [list, watch]
{{- if .Values.controller.metrics.authenticate }}
# Who asks for /metrics, and whether they may.
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end }}
{{- end }}
