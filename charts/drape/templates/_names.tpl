{{- /* Prefix of all names. */ -}}
{{- define "drape.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "drape.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- /* The name of a component: (dict "root" $ "component" "api"). */ -}}
{{- define "drape.componentName" -}}
{{- printf "%s-%s" (include "drape.fullname" .root) .component | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- /* Selector labels of a component's pods. Must never change, because the selector of a Deployment is immutable. */ -}}
{{- define "drape.selectorLabels" -}}
app.kubernetes.io/name: drape
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "drape.labels" -}}
{{- $labels := dict
  "app.kubernetes.io/version" .root.Chart.AppVersion
  "app.kubernetes.io/managed-by" .root.Release.Service
  "app.kubernetes.io/part-of" "drape"
  "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_") -}}
{{- toYaml (merge (include "drape.selectorLabels" . | fromYaml) $labels .root.Values.commonLabels) -}}
{{- end -}}

{{- /* Labels without the chart version, which would restart pods needlessly on each upgrade. */ -}}
{{- define "drape.lastingLabels" -}}
{{- toYaml (omit (include "drape.labels" . | fromYaml) "app.kubernetes.io/version" "helm.sh/chart") -}}
{{- end -}}

{{- /* The metadata of an object: (dict "root" $ "component" "api"), optionally with name, annotations, labels and clusterWide. */ -}}
{{- define "drape.metadata" -}}
name: {{ default (include "drape.componentName" .) .name }}
{{- if not .clusterWide }}
namespace: {{ include "drape.namespace" .root }}
{{- end }}
labels:
  {{- include "drape.labels" . | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (deepCopy (default dict .annotations)) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Annotations that keep an object when the release is uninstalled. */ -}}
{{- define "drape.kept" -}}
{{- if not .Values.purge }}
helm.sh/resource-policy: keep
{{- end }}
{{- end -}}

{{- /*
The reference of an image: (dict "root" $ "image" .Values.api.image). A registry is a first part with a dot or a port; global.imageRegistry
replaces it.
*/ -}}
{{- define "drape.image" -}}
{{- $values := .root.Values -}}
{{- $own := regexFind "^([^/]*[.:][^/]*|localhost)/" .image -}}
{{- $registry := coalesce $values.global.imageRegistry (trimSuffix "/" $own) $values.image.registry -}}
{{- $name := trimPrefix $own .image -}}
{{- if not (regexMatch "[:@]" $name) }}{{ $name = printf "%s:%s" $name (default .root.Chart.AppVersion $values.image.tag) }}{{ end -}}
{{- ternary $name (printf "%s/%s" $registry $name) (empty $registry) -}}
{{- end -}}

{{- define "drape.pullSecrets" -}}
{{- with .Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "drape.serviceAccountName" -}}
{{- default (include "drape.componentName" .) (index .root.Values .component).serviceAccount.name -}}
{{- end -}}

{{- define "drape.exposure" -}}
{{- if eq .Values.exposure "auto" -}}
{{- ternary "none" "ingress" (empty .Values.host) -}}
{{- else -}}
{{- .Values.exposure -}}
{{- end -}}
{{- end -}}

{{- define "drape.publicUrl" -}}
{{- if .Values.publicUrl -}}
{{- .Values.publicUrl -}}
{{- else if .Values.host -}}
{{- $tls := or .Values.ingress.tls.enabled (eq (include "drape.exposure" .) "httpRoute") -}}
{{- printf "%s://%s" (ternary "https" "http" $tls) .Values.host -}}
{{- else -}}
{{- include "drape.serviceUrl" . -}}
{{- end -}}
{{- end -}}

{{- /* URL of the API inside the cluster. */ -}}
{{- define "drape.serviceUrl" -}}
{{- printf "http://%s.%s.svc" (include "drape.componentName" (dict "root" . "component" "api")) (include "drape.namespace" .) -}}
{{- end -}}

{{- define "drape.storageUrl" -}}
{{- if eq .Values.storage.kind "pvc" -}}
file:/var/lib/drape/objects
{{- else -}}
{{- with .Values.storage.s3 -}}
{{- $query := list (printf "region=%s" .region) (printf "pathStyle=%t" .pathStyle) -}}
{{- if .endpoint }}{{ $query = append $query (printf "endpoint=%s" (urlquery .endpoint)) }}{{ end -}}
{{- if .publicEndpoint }}{{ $query = append $query (printf "publicEndpoint=%s" (urlquery .publicEndpoint)) }}{{ end -}}
{{- printf "s3://%s/%s?%s" .bucket .prefix (join "&" $query) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "drape.claimName" -}}
{{- default (include "drape.componentName" (dict "root" . "component" "objects")) .Values.storage.pvc.existingClaim -}}
{{- end -}}

{{- /* Name and key of a Secret as YAML: (dict "root" $ "what" "database"), or queue, signing, encryption, provenance. */ -}}
{{- define "drape.secretKey" -}}
{{- $given := index .root.Values .what -}}
{{- $keys := dict "database" "url" "queue" "url" "signing" "signing-secret" "encryption" "secrets-key" "provenance" "tls.key" -}}
name: {{ default (include "drape.componentName" (dict "root" .root "component" .what)) $given.existingSecret }}
key: {{ ternary $given.key (index $keys .what) (and (not (empty $given.existingSecret)) (hasKey $given "key")) }}
{{- end -}}

{{- /* Whether each process connects to the bundled Postgres with its own role. */ -}}
{{- define "drape.ownRoles" -}}
{{- if and .Values.postgres.enabled (ne .Values.migrations.mode "manual") -}}
true
{{- end -}}
{{- end -}}

{{- define "drape.s3Secret" -}}
{{- if eq .Values.storage.kind "s3" -}}
{{- default (ternary (include "drape.componentName" (dict "root" . "component" "storage")) "" (hasKey .Values.externalSecrets.keys "storage")) .Values.storage.s3.existingSecret -}}
{{- end -}}
{{- end -}}

{{- define "drape.storageClass" -}}
{{- with default .root.Values.storageClass .class }}
storageClassName: {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "drape.proxyHops" -}}
{{- if kindIs "invalid" .Values.config.proxyHops -}}
{{- ternary "0" "1" (eq (include "drape.exposure" .) "none") -}}
{{- else -}}
{{- .Values.config.proxyHops -}}
{{- end -}}
{{- end -}}

{{- define "drape.dashboardName" -}}
{{- printf "%s-dashboard" (include "drape.componentName" (dict "root" . "component" "api")) -}}
{{- end -}}

{{- /* URL of the dashboard; empty if the dashboard accepts the URL of the browser. */ -}}
{{- define "drape.dashboardUrl" -}}
{{- with .Values.dashboard -}}
{{- if .url -}}
{{- .url | trimSuffix "/" -}}
{{- else if .ingress.enabled -}}
{{- printf "%s://%s" (ternary "https" "http" .ingress.tls.enabled) .ingress.host -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Name and key of the Secret with the client secret; empty for a public client. */ -}}
{{- define "drape.oidcSecret" -}}
{{- $oidc := .Values.dashboard.oidc -}}
{{- $made := ternary (include "drape.componentName" (dict "root" . "component" "oidc")) "" (hasKey .Values.externalSecrets.keys "oidc") -}}
{{- with default $made $oidc.existingSecret -}}
name: {{ . }}
key: client-secret
{{- end -}}
{{- end -}}

{{- /* Name of the Secret of a provider in config: existing, or from an ExternalSecret. (dict "root" $ "what" "captcha"). */ -}}
{{- define "drape.providerSecret" -}}
{{- $existing := (index .root.Values.config .what).existingSecret -}}
{{- if not (or $existing (hasKey .root.Values.externalSecrets.keys .what)) -}}
{{- fail (printf "config.%s needs a secret: set config.%s.existingSecret or externalSecrets.keys.%s" .what .what .what) -}}
{{- end -}}
{{- default (include "drape.componentName" (dict "root" .root "component" .what)) $existing -}}
{{- end -}}

{{- define "drape.dashboardVariables" -}}
{{- with .Values.dashboard -}}
{{- if .enabled }}
- { name: DASHBOARD_PORT, value: '8081' }
- { name: DASHBOARD_HOST, value: 0.0.0.0 }
- { name: DASHBOARD_URL, value: {{ include "drape.dashboardUrl" $ | quote }} }
- { name: DASHBOARD_PROXY_HOPS, value: {{ ternary (ternary 1 0 .ingress.enabled) .proxyHops (kindIs "invalid" .proxyHops) | toString | quote }} }
- { name: DASHBOARD_PASSWORD_SIGN_IN, value: {{ .passwordSignIn | quote }} }
- { name: DASHBOARD_SECOND_FACTOR, value: {{ .secondFactor | quote }} }
{{- with .oidc }}
{{- if .issuer }}
- { name: OIDC_ISSUER, value: {{ .issuer | quote }} }
- { name: OIDC_CLIENT_ID, value: {{ .clientId | quote }} }
{{- with include "drape.oidcSecret" $ | fromYaml }}
- name: OIDC_CLIENT_SECRET
  valueFrom: { secretKeyRef: { name: {{ .name }}, key: {{ .key }} } }
{{- end }}
- { name: OIDC_SCOPE, value: {{ .scope | quote }} }
- { name: OIDC_OPERATORS, value: {{ join "," .operators | quote }} }
- { name: OIDC_ROLES, value: {{ join "," .roles | quote }} }
- { name: OIDC_TRUST_EMAIL, value: {{ .trustEmail | quote }} }
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{- define "drape.seesNodes" -}}
{{- or .Values.rbac.nodes (eq .Values.rbac.scope "cluster") -}}
{{- end -}}
