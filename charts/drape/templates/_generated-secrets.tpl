{{- /*
The Secrets that a Job generates in the cluster (controller/generated-secrets): name, metadata, and the generator
of each key. Nothing here is random, so that rendering is deterministic.
*/ -}}
{{- define "drape.generatedSecrets" -}}
{{- $keys := dict -}}
{{- with .Values -}}
{{- if not (or .signing.existingSecret (hasKey .externalSecrets.keys "signing")) -}}
{{- $_ := set $keys "signing" (dict "signing-secret" (dict "alphanumeric" 48)) -}}
{{- end -}}
{{- if not (or .encryption.existingSecret (hasKey .externalSecrets.keys "encryption")) -}}
{{- $_ := set $keys "encryption" (dict "secrets-key" (dict "base64Bytes" 32)) -}}
{{- end -}}
{{- if not .provenance.existingSecret -}}
{{- $_ := set $keys "provenance" (dict "tls.key" (dict "privateKey" "ed25519") "receipts.key" (dict "privateKey" "ed25519")) -}}
{{- end -}}
{{- if .postgres.enabled -}}
{{- $host := printf "%s.%s.svc:5432" (include "drape.componentName" (dict "root" $ "component" "postgres")) (include "drape.namespace" $) -}}
{{- $database := dict "password" (dict "alphanumeric" 32) "url" (dict "text" (printf "postgres://drape:{password}@%s/drape" $host)) -}}
{{- range $process := list "api" "controller" -}}
{{- $_ := set $database (printf "%s-password" $process) (dict "alphanumeric" 32 "internal" true) -}}
{{- $_ := set $database (printf "%s-url" $process) (dict "text" (printf "postgres://drape_%s:{%s-password}@%s/drape" $process $process $host)) -}}
{{- end -}}
{{- $_ := set $keys "database" $database -}}
{{- end -}}
{{- if .redis.enabled -}}
{{- $host := printf "%s.%s.svc:6379" (include "drape.componentName" (dict "root" $ "component" "redis")) (include "drape.namespace" $) -}}
{{- $queue := dict "password" (dict "alphanumeric" 32) "url" (dict "text" (printf "redis://:{password}@%s" $host))
  "users.acl" (dict "text" ($.Files.Get "files/redis/users.acl")) -}}
{{- range $process := list "api" "worker" "controller" -}}
{{- $_ := set $queue (printf "%s-password" $process) (dict "alphanumeric" 32 "internal" true) -}}
{{- $_ := set $queue (printf "%s-url" $process) (dict "text" (printf "redis://drape_%s:{%s-password}@%s" $process $process $host)) -}}
{{- end -}}
{{- $_ := set $keys "queue" $queue -}}
{{- end -}}
{{- end -}}
{{- /* No tool deletes the Secret. */ -}}
{{- $annotations := dict
  "helm.sh/resource-policy" "keep"
  "argocd.argoproj.io/compare-options" "IgnoreExtraneous"
  "argocd.argoproj.io/sync-options" "Prune=false,Delete=false" -}}
{{- $secrets := list -}}
{{- range $component, $ofSecret := $keys -}}
{{- $about := dict "root" $ "component" $component -}}
{{- $metadata := dict "name" (include "drape.componentName" $about) "namespace" (include "drape.namespace" $)
  "labels" (include "drape.lastingLabels" $about | fromYaml) "annotations" (merge (deepCopy $annotations) $.Values.commonAnnotations) -}}
{{- $secrets = append $secrets (dict "metadata" $metadata "keys" $ofSecret) -}}
{{- end -}}
{{- toJson $secrets -}}
{{- end -}}
