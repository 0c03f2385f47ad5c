{{- /*
A Job as a hook of Helm and of Argo CD, with a ServiceAccount that has only the given rules and the image of the controller. (dict "root" $
"component" "crds-upgrade" "hook" "pre-install,pre-upgrade" "rules" list "command" "controller/definitions/definitions.ts" "args" list), with
"clusterWide" for a ClusterRole and "withoutRole" if the operator grants the rules.
*/ -}}
{{- define "drape.hookJob" -}}
{{- $root := .root }}
{{- $name := include "drape.componentName" . }}
{{- $namespace := include "drape.namespace" .root }}
{{- $hook := dict "helm.sh/hook" .hook "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded" }}
{{- $first := merge (dict "helm.sh/hook-weight" "-10" "argocd.argoproj.io/sync-wave" "-10") $hook }}
{{- $then := merge (dict "helm.sh/hook-weight" "-9" "argocd.argoproj.io/sync-wave" "-9") $hook }}
{{- $about := dict "root" .root "component" .component "annotations" $first }}
{{- $role := dict "kind" (ternary "ClusterRole" "Role" (default false .clusterWide)) "name" (ternary (printf "%s-%s" $namespace $name) $name (default false .clusterWide)) }}
{{- $aboutRole := merge (dict "clusterWide" .clusterWide "name" $role.name) $about }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "drape.metadata" $about | nindent 2 }}
automountServiceAccountToken: false
{{- if not .withoutRole }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $role.kind }}
metadata:
  {{- include "drape.metadata" $aboutRole | nindent 2 }}
rules:
  {{- toYaml .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $role.kind }}Binding
metadata:
  {{- include "drape.metadata" $aboutRole | nindent 2 }}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: {{ $role.kind }}, name: {{ $role.name }} }
subjects:
  - { kind: ServiceAccount, name: {{ $name }}, namespace: {{ $namespace }} }
{{- end }}
{{- $spec := include "drape.hookJobSpec" (merge (dict "serviceAccountName" $name) .) }}
---
apiVersion: batch/v1
kind: Job
metadata:
  {{- /* Jobs are immutable: a tool without support for Helm hooks creates a new Job. */}}
  {{- include "drape.metadata" (dict "root" .root "component" .component "annotations" $then "name" (printf "%s-%s" $name (sha256sum $spec | trunc 8))) | nindent 2 }}
spec:
  {{- $spec | nindent 2 }}
{{- end -}}

{{- define "drape.hookJobSpec" -}}
{{- $about := dict "root" .root "component" .component -}}
backoffLimit: 3
template:
  metadata:
    labels:
      {{- include "drape.podLabels" $about | nindent 6 }}
  spec:
    {{- include "drape.podStart" (merge (dict "serviceAccountName" .serviceAccountName "automount" true) $about) | nindent 4 }}
    restartPolicy: Never
    containers:
      - name: {{ .component }}
        image: {{ include "drape.image" (dict "root" .root "image" .root.Values.controller.image) }}
        imagePullPolicy: {{ .root.Values.image.pullPolicy }}
        command: [node, {{ .command }}]
        args: {{ toJson .args }}
        terminationMessagePolicy: FallbackToLogsOnError
        resources:
          requests: { cpu: 50m, memory: 128Mi }
          limits: { memory: 512Mi }
        securityContext:
          {{- include "drape.containerSecurityContext" . | nindent 10 }}
{{- end -}}
