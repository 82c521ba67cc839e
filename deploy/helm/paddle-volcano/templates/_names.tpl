{{/* What several templates say in the same words. Arguments come as a dictionary where a template needs more than the root. */}}

{{/* The reference of an image: dict "root" . "of" .Values.controller.image. A digest takes the place of the tag. */}}
{{- define "paddle.image" -}}
{{ .of.registry | default .root.Values.image.registry }}/{{ .of.repository }}
{{- if .of.digest }}@{{ .of.digest }}{{ else }}:{{ .of.tag | default .root.Values.image.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end }}

{{/* Whether the release has a scheduler: empty means no. */}}
{{- define "paddle.scheduler" -}}
{{ if ne .Values.scheduler.mode "none" }}yes{{ end }}
{{- end }}

{{/* What the names of the release's objects begin with. */}}
{{- define "paddle.fullname" -}}
{{ .Values.fullnameOverride | default "paddle" }}
{{- end }}

{{- define "paddle.controllerObject" -}}
{{ include "paddle.fullname" . }}-controller-manager
{{- end }}

{{- define "paddle.schedulerObject" -}}
{{ if and (eq .Values.scheduler.mode "replace") .Values.scheduler.volcanosNames }}volcano-scheduler{{ else }}{{ include "paddle.fullname" . }}-scheduler{{ end }}
{{- end }}

{{- define "paddle.controllerAccount" -}}
{{ .Values.controller.serviceAccount.name | default (ternary (include "paddle.controllerObject" .) "default" .Values.controller.serviceAccount.create) }}
{{- end }}

{{- define "paddle.schedulerAccount" -}}
{{ .Values.scheduler.serviceAccount.name | default (ternary (include "paddle.schedulerObject" .) "default" .Values.scheduler.serviceAccount.create) }}
{{- end }}

{{/* The labels by which Deployments, NetworkPolicies and monitors select pods. The selector of a Deployment cannot change. */}}
{{- define "paddle.controllerLabels" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: controller
{{- end }}

{{- define "paddle.schedulerLabels" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: scheduler
{{- end }}

{{/* The labels of an object: dict "root" . "component" "controller", or without a component; "and" has more of them. */}}
{{- define "paddle.labels" -}}
{{- $labels := dict
  "helm.sh/chart" (printf "%s-%s" .root.Chart.Name (.root.Chart.Version | replace "+" "_"))
  "app.kubernetes.io/name" (.root.Values.nameOverride | default .root.Chart.Name)
  "app.kubernetes.io/instance" .root.Release.Name
  "app.kubernetes.io/version" .root.Chart.AppVersion
  "app.kubernetes.io/part-of" "paddle-volcano"
  "app.kubernetes.io/managed-by" .root.Release.Service }}
{{- with .component }}{{ $_ := set $labels "app.kubernetes.io/component" . }}{{ end }}
{{- toYaml (merge $labels (.and | default dict) .root.Values.commonLabels) }}
{{- end }}

{{/* The labels of a component's pods: dict "root" . "of" .Values.controller "selector" "paddle.controllerLabels" */}}
{{- define "paddle.podLabels" -}}
{{- toYaml (merge (include .selector .root | fromYaml) .of.podLabels .root.Values.commonLabels) }}
{{- end }}

{{- define "paddle.schedulerNamespace" -}}
{{ if eq .Values.scheduler.mode "replace" }}{{ .Values.scheduler.volcanoNamespace }}{{ else }}{{ .Release.Namespace }}{{ end }}
{{- end }}

{{/* What jobs call the scheduler; it is the name of its lease as well. */}}
{{- define "paddle.schedulerName" -}}
{{ if eq .Values.scheduler.mode "beside" }}{{ .Values.scheduler.name }}{{ else }}volcano{{ end }}
{{- end }}

{{- define "paddle.controllerRights" -}}
{{ include "paddle.controllerObject" . }}{{ with .Values.controller.namespace }}-{{ . }}{{ end }}
{{- end }}

{{/* What a cluster's administrator may say of a pod: dict "root" . "of" .Values.controller "selector" "paddle.controllerLabels" */}}
{{- define "paddle.place" -}}
{{- with .of.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
{{- toYaml . | nindent 0 }}
{{- end }}
{{- with .of.nodeSelector }}
nodeSelector:
{{- toYaml . | nindent 2 }}
{{- end }}
{{- with .of.tolerations }}
tolerations:
{{- toYaml . | nindent 0 }}
{{- end }}
{{- with .of.affinity }}
affinity:
{{- toYaml . | nindent 2 }}
{{- end }}
{{- with .of.topologySpreadConstraints }}
topologySpreadConstraints:
{{- $pods := dict "labelSelector" (dict "matchLabels" (include $.selector $.root | fromYaml)) }}
{{- range . }}
- {{ toYaml (merge (deepCopy .) $pods) | nindent 2 | trim }}
{{- end }}
{{- end }}
{{- with .of.podSecurityContext }}
securityContext:
{{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
