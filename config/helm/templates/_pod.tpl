{{/* The parts of a pod. A scope has root, component and own: the values of the worker or of the gateway. */}}

{{/* A value of the worker or the gateway, or else the chart's, as YAML. Gets scope and key. */}}
{{- define "remint.value" -}}
{{- $value := hasKey .scope.own .key | ternary (get .scope.own .key) (get .scope.root.Values .key) -}}
{{- with $value }}{{ toYaml . }}{{ end -}}
{{- end }}

{{/* The service account's name. */}}
{{- define "remint.account" -}}
{{- $account := mergeOverwrite (deepCopy .root.Values.serviceAccount) (deepCopy (.own.serviceAccount | default dict)) -}}
{{- if $account.name }}{{ $account.name }}{{ else if $account.create }}{{ include "remint.fullname" . }}{{ else }}default{{ end -}}
{{- end }}

{{/* The ServiceAccount, if the chart makes it. */}}
{{- define "remint.accountObject" -}}
{{- $account := mergeOverwrite (deepCopy .root.Values.serviceAccount) (deepCopy (.own.serviceAccount | default dict)) -}}
{{- if and $account.create (not $account.name) }}
---
apiVersion: v1
kind: ServiceAccount
metadata: {{- include "remint.metadata" . | nindent 2 }}
  {{- with merge (.annotations | default dict) ($account.annotations | default dict) }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- end }}
{{- end }}

{{/* The template's metadata: labels and annotations of the pods. Gets the scope and hash. */}}
{{- define "remint.podMetadata" -}}
labels:
  {{- with include "remint.value" (dict "scope" . "key" "podLabels") }}{{ . | nindent 2 }}{{ end }}
  {{- include "remint.labels" .root | nindent 2 }}
  {{- include "remint.selector" . | nindent 2 }}
annotations:
  # Pods are replaced if a key changes that needs a restart.
  checksum/config: {{ .hash }}
  {{- with include "remint.value" (dict "scope" . "key" "podAnnotations") }}{{ . | nindent 2 }}{{ end }}
{{- end }}

{{/* An account of its own without rights: not root, no API token, no links to services. */}}
{{- define "remint.podSpec" -}}
serviceAccountName: {{ include "remint.account" . }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  # Secrets are root's files, which this group may read.
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- with include "remint.value" (dict "scope" $ "key" $key) }}
{{ $key }}: {{- ternary (printf " %s" .) (. | nindent 2) (eq $key "priorityClassName") }}
{{- end }}
{{- end }}
{{- end }}

{{/* Pods are apart from one another if possible. */}}
{{- define "remint.spread" -}}
{{- with include "remint.value" (dict "scope" . "key" "topologySpreadConstraints") }}
topologySpreadConstraints: {{- . | nindent 2 }}
{{- else }}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "remint.selector" $ | nindent 8 }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "remint.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
privileged: false
capabilities: { drop: [ALL] }
{{- end }}

{{- define "remint.containerImage" -}}
image: {{ include "remint.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{/* The environment of a program: the pod's name and address, which configurations use, and the values' own. */}}
{{- define "remint.environment" -}}
env:
  - name: POD_NAME
    valueFrom: { fieldRef: { fieldPath: metadata.name } }
  - name: POD_IP
    valueFrom: { fieldRef: { fieldPath: status.podIP } }
  {{- with include "remint.value" (dict "scope" . "key" "extraEnv") }}{{ . | nindent 2 }}{{ end }}
{{- with include "remint.value" (dict "scope" . "key" "extraEnvFrom") }}
envFrom: {{- . | nindent 2 }}
{{- end }}
{{- end }}

{{/* A stop begins with a pause, while the pod is already taken out of the endpoints. Kubernetes 1.30 pauses by itself. */}}
{{- define "remint.preStop" -}}
{{- with .own.preStopSeconds }}
lifecycle:
  preStop:
    {{- if semverCompare ">=1.30-0" $.root.Capabilities.KubeVersion.Version }}
    sleep: { seconds: {{ int . }} }
    {{- else }}
    exec: { command: [/bin/sleep, {{ int . | toString | quote }}] }
    {{- end }}
{{- end }}
{{- end }}

{{/* The probes. They need no token. Gets port and tls. */}}
{{- define "remint.probes" -}}
livenessProbe:
  httpGet: { path: /health/live, port: {{ .port }}{{ if .tls }}, scheme: HTTPS{{ end }} }
  periodSeconds: 10
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /health/ready, port: {{ .port }}{{ if .tls }}, scheme: HTTPS{{ end }} }
  periodSeconds: 5
{{- end }}

{{/* The name of a Secret's volume: folders may have characters that names of volumes may not. */}}
{{- define "remint.volumeName" -}}
secret-{{ . | sha256sum | trunc 12 }}
{{- end }}

{{/* Mounts of Secrets, under /etc/remint. Gets a dictionary of folders and the Secrets in them. */}}
{{- define "remint.secretMounts" -}}
{{- range $folder, $secret := . }}
- { name: {{ include "remint.volumeName" $folder }}, mountPath: {{ printf "/etc/remint/%s" $folder | quote }}, readOnly: true }
{{- end }}
{{- end }}

{{- define "remint.secretVolumes" -}}
{{- range $folder, $secret := . }}
- name: {{ include "remint.volumeName" $folder }}
  secret: { secretName: {{ $secret | quote }}, defaultMode: 0440 }
{{- end }}
{{- end }}

{{/* The mounts that every program has: the configuration's folder, so that a changed ConfigMap arrives, and a folder for temporary files. */}}
{{- define "remint.mounts" -}}
- { name: {{ .configVolume | default "config" }}, mountPath: /etc/remint/config, readOnly: true }
- { name: tmp, mountPath: /tmp }
{{- end }}

{{- define "remint.volumes" -}}
- name: config
  configMap: { name: {{ include "remint.fullname" . }} }
- name: tmp
  emptyDir: { medium: Memory, sizeLimit: 16Mi }
{{- end }}

{{/* The disruption budget. From 1.27 on a pod that is not ready never keeps a node from being drained. */}}
{{- define "remint.budget" -}}
{{- $budget := .own.podDisruptionBudget | default dict -}}
{{- if ne (toString $budget.enabled) "false" }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{- include "remint.metadata" . | nindent 2 }}
spec:
  {{- if hasKey $budget "minAvailable" }}
  minAvailable: {{ $budget.minAvailable }}
  {{- else }}
  maxUnavailable: {{ hasKey $budget "maxUnavailable" | ternary $budget.maxUnavailable 1 }}
  {{- end }}
  {{- if semverCompare ">=1.27-0" .root.Capabilities.KubeVersion.Version }}
  unhealthyPodEvictionPolicy: AlwaysAllow
  {{- end }}
  selector:
    matchLabels: {{- include "remint.selector" . | nindent 6 }}
{{- end }}
{{- end }}
