{{/* Labels of everything that the chart installs. Takes the root context. */}}
{{- define "remint.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: remint
{{- end }}

{{/* By what a fleet's pods are known. Takes root and component. */}}
{{- define "remint.selector" -}}
app.kubernetes.io/name: remint
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "remint.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* A fleet's configuration: what all have in common, its own, and what the pod it runs in decides. Takes root, config, pod. */}}
{{- define "remint.config" -}}
{{ mergeOverwrite (deepCopy .root.Values.config) (deepCopy .config) .pod | toYaml }}
{{- end }}

{{/* What every pod is: nobody, with nothing. */}}
{{- define "remint.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
# Secrets are root's files, which this group may read.
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "remint.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
privileged: false
capabilities: { drop: [ALL] }
{{- end }}

{{- define "remint.environment" -}}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: POD_IP
  valueFrom: { fieldRef: { fieldPath: status.podIP } }
{{- end }}

{{/* What is mounted of secrets, under /etc/remint. Takes a dictionary of folders and the Secrets in them. */}}
{{- define "remint.mounts" -}}
- { name: config, mountPath: /etc/remint/remint.yaml, subPath: remint.yaml, readOnly: true }
- { name: tmp, mountPath: /tmp }
{{- range $folder, $secret := . }}
- { name: {{ printf "secret-%s" ($folder | sha256sum | trunc 12) }}, mountPath: {{ printf "/etc/remint/%s" $folder | quote }}, readOnly: true }
{{- end }}
{{- end }}

{{- define "remint.volumes" -}}
- name: tmp
  emptyDir: { medium: Memory, sizeLimit: 16Mi }
{{- range $folder, $secret := . }}
- name: {{ printf "secret-%s" ($folder | sha256sum | trunc 12) }}
  secret: { secretName: {{ $secret | quote }}, defaultMode: 0440 }
{{- end }}
{{- end }}

{{/* Where pods are put: apart from one another where that can be. Takes root and component. */}}
{{- define "remint.placement" -}}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "remint.selector" $ | nindent 8 }}
  {{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
