{{- define "croupier.labels" -}}
app.kubernetes.io/name: croupier
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "croupier.image" -}}
{{ .Values.image.repository }}@{{ required "image.digest is missing: give the digest that deploy/image/build printed" .Values.image.digest }}
{{- end }}

{{- define "croupier.pod" -}}
serviceAccountName: {{ .Release.Name }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  # Once, when the volume is empty: keys must stay closed to the group.
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- define "croupier.container" -}}
image: {{ include "croupier.image" . }}
imagePullPolicy: Always
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  runAsUser: 65532
  capabilities:
    drop: [ALL]
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- define "croupier.output" -}}
{{- with .Values.release.objectStore -}}
{{- $_ := required "network.objectStoreCidr is missing: release must reach release.objectStore" $.Values.network.objectStoreCidr -}}
{{- trimSuffix "/" . -}}
{{- else -}}
/var/lib/croupier/released
{{- end -}}
{{- end }}

{{- define "croupier.plan-mounts" -}}
{{- range .Values.plans }}
- name: plan-{{ .name }}
  mountPath: /etc/croupier/plans/{{ .name }}
  readOnly: true
{{- end }}
{{- end }}

{{- define "croupier.plan-volumes" -}}
{{- range .Values.plans }}
- name: plan-{{ .name }}
  configMap:
    name: {{ .existingConfigMap }}
{{- end }}
{{- end }}
