{{/* Names, labels and configurations. Most helpers get a scope: root (the root context), component and own (its values). */}}

{{/* The labels of everything that the chart installs. Gets the root context. */}}
{{- define "remint.labels" -}}
{{- with .Values.labels }}{{ toYaml . }}
{{ end -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: remint
{{- end }}

{{/* The labels by which a component's pods are selected. */}}
{{- define "remint.selector" -}}
app.kubernetes.io/name: remint
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "remint.fullname" -}}
{{ .root.Release.Name }}-{{ .component }}
{{- end }}

{{/* The metadata of a component's object. suffix is optional. */}}
{{- define "remint.metadata" -}}
name: {{ include "remint.fullname" . }}{{ .suffix }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "remint.labels" .root | nindent 2 }}
  {{- include "remint.selector" . | nindent 2 }}
{{- end }}

{{- define "remint.image" -}}
{{- $image := .Values.image -}}
{{ $image.repository }}{{ if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* The workers with their defaults. Gets the root context. */}}
{{- define "remint.workers" -}}
{{- $workers := dict -}}
{{- range $name, $worker := .Values.workers }}{{ $_ := set $workers $name (mergeOverwrite (deepCopy $.Values.workerDefaults) (deepCopy $worker)) }}{{ end -}}
{{ toYaml $workers }}
{{- end }}

{{/* The address that a server listens on. Gets root and port. */}}
{{- define "remint.listen" -}}
{{ eq .root.Values.ipFamily "IPv6" | ternary "[::]" "0.0.0.0" }}:{{ .port }}
{{- end }}

{{/* The user's part of a component's configuration: the common values and its own, which win. Has the address of the brokers. */}}
{{- define "remint.common" -}}
{{- $config := mergeOverwrite (deepCopy .root.Values.config) (deepCopy .own.config) -}}
{{- if not ($config.kafka).bootstrap_servers }}{{ fail "config.kafka.bootstrap_servers is missing; write it, as in kafka-bootstrap:9093" }}{{ end -}}
{{ toYaml $config }}
{{- end }}

{{/* A worker's configuration. The pod decides its name and its admin server's address; rings are the signer's where there is one. */}}
{{- define "remint.worker.config" -}}
{{- $full := include "remint.fullname" . -}}
{{- $service := printf "%s.%s.svc" $full .root.Release.Namespace -}}
{{- $config := include "remint.common" . | fromYaml -}}
{{- $own := list (eq .root.Values.ipFamily "IPv6" | ternary "[${POD_IP}]" "${POD_IP}") -}}
{{- range list $full $service }}{{ $own = append $own (printf "${POD_NAME}.%s" .) }}{{ end -}}
{{- $admin := $config.admin | default dict -}}
{{- $admin = mergeOverwrite $admin (dict "listen" (include "remint.listen" (dict "root" .root "port" 9464))) -}}
{{- $_ := set $admin "hosts" (concat $own ($admin.hosts | default list)) -}}
{{- if .root.Values.admin.open }}{{ $_ := set $admin "open" true }}{{ else }}{{ $_ := set $admin "token_file" "/etc/remint/admin/token" }}{{ end -}}
{{- $_ := set $config "admin" $admin -}}
{{- $_ := set $config.kafka "instance" "${POD_NAME}" -}}
{{- if (.own.signer).enabled }}
{{- range $ring, $key := $config.keys }}{{ if $key.path }}{{ $_ := set $config.keys $ring (dict "signer" "/run/remint/signer.sock") }}{{ end }}{{ end }}
{{- end -}}
{{ toYaml $config }}
{{- end }}

{{/* The signer's configuration: the rings, and of the apps the part that decides which keys fit. It never connects to Kafka. */}}
{{- define "remint.signer.config" -}}
{{- $config := include "remint.common" . | fromYaml -}}
{{- $apps := dict -}}
{{- range $name, $app := $config.apps }}{{ $_ := set $apps $name (omit $app "lookup" "seal") }}{{ end -}}
{{- $part := pick $config "keys" "worker" "log" -}}
{{- $_ := set $part "apps" $apps -}}
{{- $_ := set $part "kafka" (dict "bootstrap_servers" "127.0.0.1:9092") -}}
{{ toYaml $part }}
{{- end }}

{{/* The gateway's configuration. */}}
{{- define "remint.gateway.config" -}}
{{- $listen := dict "listen" (include "remint.listen" (dict "root" .root "port" 8080)) "metrics" (include "remint.listen" (dict "root" .root "port" 9465)) -}}
{{ mergeOverwrite (include "remint.common" . | fromYaml) (dict "pickup" $listen) | toYaml }}
{{- end }}

{{/*
The hash of the keys that need a restart: pods are replaced if it changes. All other keys are reloaded by the running pods.
validate.py compares the list with config/OPERATION.md. Gets root and config, a dictionary.
*/}}
{{- define "remint.restartHash" -}}
{{- $config := .config -}}
{{- if eq .root.Values.restartOnConfigChange "always" -}}
{{ toYaml $config | sha256sum }}
{{- else -}}
{{- $part := pick $config "kafka" "delivery" "topics" "admin" "telemetry" -}}
{{- $_ := set $part "format" (($config.log).format | default "") -}}
{{- $worker := $config.worker | default dict -}}
{{- $_ := set $part "worker" (list ($worker.shutdown_deadline) (($worker.retries).tiers) (($worker.admission).subjects)) -}}
{{- $reloaded := list "apps" "session" "sessions" "api_keys" "origins" "public_url" "proof" "seal_keys" "user_rate" "caller_rate" "address_rate" "refused_rate" "total_rate" -}}
{{- $pickup := deepCopy ($config.pickup | default dict) -}}
{{- range $reloaded }}{{ $_ := unset $pickup . }}{{ end -}}
{{- $_ := set $part "pickup" $pickup -}}
{{- $held := dict -}}
{{- range $name, $key := $config.keys }}{{ if or $key.signer $key.policy }}{{ $_ := set $held (printf "key %s" $name) (omit $key "path") }}{{ end }}{{ end -}}
{{- range $name, $app := $config.apps }}{{ if $app.topics }}{{ $_ := set $held (printf "app %s" $name) $app.topics }}{{ end }}{{ end -}}
{{- $_ := set $part "held" $held -}}
{{ toYaml $part | sha256sum }}
{{- end -}}
{{- end }}

{{/* The ConfigMap with a component's configuration and its files. file is the configuration's name, config its text. */}}
{{- define "remint.configmap" -}}
apiVersion: v1
kind: ConfigMap
metadata: {{- include "remint.metadata" . | nindent 2 }}
data:
  remint.yaml: | {{- .config | nindent 4 }}
  {{- range $name, $content := .files }}
  {{ $name }}: | {{- $content | nindent 4 }}
  {{- end }}
{{- end }}

{{/* A duration such as 25s, in seconds. Gets duration, key and setting: where the value is, and what to set if it cannot be read. */}}
{{- define "remint.seconds" -}}
{{- if not (regexMatch "^[0-9]+(ms|s|m|h|d)$" .duration) -}}
{{ fail (printf "%s: the chart cannot read %q; write a duration such as 25s, or set %s.terminationGracePeriodSeconds" .key .duration .setting) }}
{{- end -}}
{{- $count := regexFind "^[0-9]+" .duration | int -}}
{{- $unit := regexFind "[a-z]+$" .duration -}}
{{- if eq $unit "ms" }}{{ div (add $count 999) 1000 }}{{ else }}{{ mul $count (get (dict "s" 1 "m" 60 "h" 3600 "d" 86400) $unit) }}{{ end -}}
{{- end }}

{{/*
The grace period: everything that a stop may take, and a margin. Gets root, own, setting, config, margin and drain ("" for a worker).
*/}}
{{- define "remint.grace" -}}
{{- $deadline := include "remint.seconds" (dict "duration" ((.config.worker).shutdown_deadline | default "25s") "key" "config.worker.shutdown_deadline" "setting" .setting) | int -}}
{{- $drain := 0 -}}
{{- with .drain }}{{ $drain = include "remint.seconds" (dict "duration" . "key" "gateway.config.pickup.drain" "setting" $.setting) | int }}{{ end -}}
{{- $needed := add (.own.preStopSeconds | default 0 | int) $drain $deadline | int -}}
{{- with .own.terminationGracePeriodSeconds -}}
{{- if le (int .) $needed }}{{ fail (printf "%s.terminationGracePeriodSeconds: %d is too short; preStopSeconds, pickup.drain and worker.shutdown_deadline take %d seconds, so write at least %d" $.setting (int .) $needed (add1 $needed)) }}{{ end -}}
{{ int . }}
{{- else -}}
{{ add $needed .margin }}
{{- end -}}
{{- end }}
