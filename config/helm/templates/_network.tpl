{{/*
The destinations that a component may reach: names, brokers, and https addresses if its configuration has any. Gets root, config and
asks: whether there are https addresses.
*/}}
{{- define "remint.egress" -}}
{{- $policy := .root.Values.networkPolicy -}}
{{- $ports := $policy.brokers.ports -}}
{{- if not $ports -}}
{{- $ports = list -}}
{{- range splitList "," .config.kafka.bootstrap_servers -}}
{{- if not (regexMatch ":[0-9]+$" .) }}{{ fail (printf "networkPolicy.brokers.ports: %q has no port; write the brokers' ports, as in [9093]" .) }}{{ end -}}
{{- $ports = append $ports (regexFind "[0-9]+$" . | int) -}}
{{- end -}}
{{- end -}}
{{- with $policy.dns }}
- to: {{- toYaml . | nindent 4 }}
  ports: [{ protocol: UDP, port: 53 }, { protocol: TCP, port: 53 }]
{{- end }}
- ports:
    {{- range uniq $ports }}
    - { protocol: TCP, port: {{ int . }} }
    {{- end }}
  {{- with $policy.brokers.to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- if and .asks $policy.https.to }}
- to: {{- toYaml $policy.https.to | nindent 4 }}
  ports:
    {{- range $policy.https.ports }}
    - { protocol: TCP, port: {{ int . }} }
    {{- end }}
{{- end }}
{{- with $policy.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end }}
