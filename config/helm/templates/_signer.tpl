{{/* The containers beside a worker: the one that makes the admin server's token, and the signer. */}}

{{/*
Makes a random token for the admin server. It is in the pod's memory alone, so the admin server is closed to everybody without access
to the pod. Gets the root context.
*/}}
{{- define "remint.tokenContainer" -}}
- name: admin-token
  {{- include "remint.containerImage" . | nindent 2 }}
  command: [/bin/bash, -ec]
  args: ["umask 077; test -s /etc/remint/admin/token || head -c 24 /dev/urandom | base64 >/etc/remint/admin/token"]
  resources:
    requests: { cpu: 10m, memory: 16Mi }
    limits: { memory: 32Mi }
  securityContext: {{- include "remint.containerSecurity" . | nindent 4 }}
  volumeMounts:
    - { name: admin-token, mountPath: /etc/remint/admin }
{{- end }}

{{/*
The signer: it alone has the key rings, and signs for the worker's account. From Kubernetes 1.29 on it starts before the worker and stops
after it. Gets the scope, keys and isSidecar.
*/}}
{{- define "remint.signerContainer" -}}
- name: signer
  {{- include "remint.containerImage" .root | nindent 2 }}
  args: [signer, --config, /etc/remint/config/remint.yaml, --socket, /run/remint/signer.sock, --allow-uid, "65532"]
  # Its configuration may name variables, as the worker's does: without one of them it would not start.
  {{- include "remint.environment" . | nindent 2 }}
  {{- if .isSidecar }}
  restartPolicy: Always
  startupProbe:
    exec: { command: [/usr/bin/test, -S, /run/remint/signer.sock] }
    periodSeconds: 1
    failureThreshold: 60
  {{- else }}
  # The worker finishes its events first.
  lifecycle:
    preStop:
      exec: { command: [/bin/sleep, "10"] }
  {{- end }}
  {{- with (.own.signer).resources }}
  resources: {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    # Another user than the worker's, of the same group: the socket is the group's.
    runAsUser: 65533
    {{- include "remint.containerSecurity" .root | nindent 4 }}
  volumeMounts:
    - { name: signer-config, mountPath: /etc/remint/config, readOnly: true }
    - { name: signer-socket, mountPath: /run/remint }
    {{- include "remint.secretMounts" .keys | nindent 4 }}
    {{- with include "remint.value" (dict "scope" . "key" "extraVolumeMounts") }}{{ . | nindent 4 }}{{ end }}
{{- end }}
