{{/* What several templates say in the same words. Arguments come as a dictionary where a template needs more than the root. */}}

{{/* An image of ours: dict "root" . "name" "paddlejob-controller" */}}
{{- define "paddle.image" -}}
{{ .root.Values.image.registry }}/{{ .name }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{/* Whether there is a scheduler of ours: empty means no. */}}
{{- define "paddle.scheduler" -}}
{{ if ne .Values.scheduler.mode "none" }}yes{{ end }}
{{- end }}

{{- define "paddle.schedulerObject" -}}
{{ if and (eq .Values.scheduler.mode "replace") .Values.scheduler.volcanosNames }}volcano-scheduler{{ else }}paddle-scheduler{{ end }}
{{- end }}

{{/* The labels by which Deployments, NetworkPolicies and PodMonitors select pods. The selector of a Deployment cannot change. */}}
{{- define "paddle.controllerLabels" -}}
app.kubernetes.io/name: paddle-volcano
app.kubernetes.io/component: controller
{{- end }}

{{- define "paddle.schedulerLabels" -}}
app.kubernetes.io/name: paddle-volcano
app.kubernetes.io/component: scheduler
{{- end }}

{{- define "paddle.schedulerNamespace" -}}
{{ if eq .Values.scheduler.mode "replace" }}{{ .Values.scheduler.volcanoNamespace }}{{ else }}{{ .Release.Namespace }}{{ end }}
{{- end }}

{{/* What jobs call the scheduler; it is the name of its lease as well. */}}
{{- define "paddle.schedulerName" -}}
{{ if eq .Values.scheduler.mode "beside" }}{{ .Values.scheduler.name }}{{ else }}volcano{{ end }}
{{- end }}

{{- define "paddle.controllerRights" -}}
paddle-controller-manager{{ with .Values.controller.namespace }}-{{ . }}{{ end }}
{{- end }}

{{/* What a cluster's administrator may say of a pod: dict "root" . "of" .Values.controller */}}
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
{{- end }}

{{- define "paddle.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "paddle.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
