{{- /* Fails with instructions if values conflict. */ -}}
{{- define "drape.check" -}}
{{- $problems := list -}}
{{- range $path, $name := .Files.Get "files/other-names.yaml" | fromYaml -}}
{{- $parent := $.Values -}}
{{- range splitList "." $path | initial }}{{ $parent = index $parent . }}{{ end -}}
{{- if hasKey $parent (splitList "." $path | last) }}{{ $problems = append $problems (printf "%s is a name of other charts: set %s" $path $name) }}{{ end -}}
{{- end -}}
{{- with .Values -}}
{{- $postgres := list .database.existingSecret (dig "database" "" .externalSecrets.keys) | compact | len -}}
{{- if and .postgres.enabled (gt $postgres 0) }}{{ $problems = append $problems "two databases: set postgres.enabled to false, or remove the values of database" }}{{ end -}}
{{- if and (not .postgres.enabled) (eq $postgres 0) }}{{ $problems = append $problems "no database: set database.existingSecret or postgres.enabled" }}{{ end -}}
{{- if gt $postgres 1 }}{{ $problems = append $problems "two databases: set only one of database.existingSecret and externalSecrets.keys.database" }}{{ end -}}
{{- range $process, $role := .database.roles -}}
{{- if and $role (not $.Values.database.existingSecret) }}{{ $problems = append $problems (printf "database.roles.%s has no URL: set database.existingSecret to a Secret with one key per role" $process) }}{{ end -}}
{{- end -}}
{{- if and .database.direct (not .database.existingSecret) }}{{ $problems = append $problems "database.direct has no URLs: set database.existingSecret to a Secret with a direct- key for each URL" }}{{ end -}}
{{- $redis := list .queue.existingSecret (dig "queue" "" .externalSecrets.keys) | compact | len -}}
{{- if and .redis.enabled (gt $redis 0) }}{{ $problems = append $problems "two queues: set redis.enabled to false, or remove the values of queue" }}{{ end -}}
{{- if and (not .redis.enabled) (eq $redis 0) }}{{ $problems = append $problems "no queue: set queue.existingSecret or redis.enabled" }}{{ end -}}
{{- if gt $redis 1 }}{{ $problems = append $problems "two queues: set only one of queue.existingSecret and externalSecrets.keys.queue" }}{{ end -}}
{{- range $component := list "signing" "encryption" -}}
{{- if and (index $.Values $component).existingSecret (hasKey $.Values.externalSecrets.keys $component) }}{{ $problems = append $problems (printf "two Secrets: set only one of %s.existingSecret and externalSecrets.keys.%s" $component $component) }}{{ end -}}
{{- end -}}
{{- if ne (empty .config.smtp.existingSecret) (empty .config.smtp.from) }}{{ $problems = append $problems "config.smtp.existingSecret and config.smtp.from must be set together" }}{{ end -}}
{{- if and .safetyList.url (not .safetyList.existingSecret) }}{{ $problems = append $problems "safetyList.url requires a secret that signs the requests: set safetyList.existingSecret" }}{{ end -}}
{{- if and (eq .exposure "ingress") (not .host) }}{{ $problems = append $problems "exposure ingress requires a host: set host" }}{{ end -}}
{{- if and (eq .exposure "httpRoute") (or (not .host) (not .httpRoute.parentRefs)) }}{{ $problems = append $problems "exposure httpRoute requires host and httpRoute.parentRefs" }}{{ end -}}
{{- if and .ingress.tls.enabled (eq .exposure "none") }}{{ $problems = append $problems "ingress.tls.enabled requires an ingress: set exposure to ingress" }}{{ end -}}
{{- if and (eq .storage.kind "s3") (not .storage.s3.bucket) }}{{ $problems = append $problems "storage.kind s3 requires a bucket: set storage.s3.bucket" }}{{ end -}}
{{- if and (eq .storage.kind "pvc") .storage.s3.bucket }}{{ $problems = append $problems "two storages: set storage.kind to s3, or remove storage.s3.bucket" }}{{ end -}}
{{- if and .storage.s3.existingSecret (hasKey .externalSecrets.keys "storage") }}{{ $problems = append $problems "two credentials of the bucket: set only one of storage.s3.existingSecret and externalSecrets.keys.storage" }}{{ end -}}
{{- if and .externalSecrets.keys (not .externalSecrets.secretStoreRef.name) }}{{ $problems = append $problems "externalSecrets.keys requires a store: set externalSecrets.secretStoreRef.name" }}{{ end -}}
{{- if and .queue.roles (not .queue.existingSecret) }}{{ $problems = append $problems "queue.roles has no URLs: set queue.existingSecret to a Secret with api-url, worker-url and controller-url" }}{{ end -}}
{{- if and .api.autoscaling.enabled (gt (int .api.autoscaling.minReplicas) (int .api.autoscaling.maxReplicas)) }}{{ $problems = append $problems "api.autoscaling.minReplicas must not be above maxReplicas" }}{{ end -}}
{{- if and .dashboard.enabled (not (has "dashboard" .features)) }}{{ $problems = append $problems "dashboard.enabled requires the extension: add dashboard to features" }}{{ end -}}
{{- if and .dashboard.ingress.enabled (not .dashboard.enabled) }}{{ $problems = append $problems "dashboard.ingress.enabled requires the dashboard: set dashboard.enabled" }}{{ end -}}
{{- if and .dashboard.ingress.enabled (not .dashboard.ingress.host) }}{{ $problems = append $problems "dashboard.ingress.enabled requires a host: set dashboard.ingress.host" }}{{ end -}}
{{- if and .dashboard.ingress.enabled .host (eq .dashboard.ingress.host .host) }}{{ $problems = append $problems "dashboard.ingress.host must differ from host: otherwise callers can reach the dashboard" }}{{ end -}}
{{- if and .dashboard.ingress.enabled .dashboard.url (ne .dashboard.ingress.host (regexReplaceAll "^https?://([^/:]+).*$" .dashboard.url "${1}")) }}{{ $problems = append $problems "the host of dashboard.url must be dashboard.ingress.host: otherwise the dashboard rejects every form" }}{{ end -}}
{{- if and .dashboard.ingress.enabled .networkPolicy.enabled (not .networkPolicy.dashboardFrom) }}{{ $problems = append $problems "network policies block the ingress of the dashboard: set networkPolicy.dashboardFrom" }}{{ end -}}
{{- if and .dashboard.enabled (not .dashboard.passwordSignIn) (not .dashboard.oidc.issuer) }}{{ $problems = append $problems "the dashboard has no sign-in method: set dashboard.oidc.issuer or dashboard.passwordSignIn" }}{{ end -}}
{{- if .dashboard.oidc.issuer -}}
{{- if not .dashboard.enabled }}{{ $problems = append $problems "dashboard.oidc.issuer requires the dashboard: set dashboard.enabled" }}{{ end -}}
{{- if not .dashboard.oidc.clientId }}{{ $problems = append $problems "dashboard.oidc.issuer requires a client: set dashboard.oidc.clientId" }}{{ end -}}
{{- if not (or .dashboard.url .dashboard.ingress.enabled) }}{{ $problems = append $problems "dashboard.oidc.issuer requires a redirect address: set dashboard.url or dashboard.ingress" }}{{ end -}}
{{- else if or .dashboard.oidc.clientId .dashboard.oidc.existingSecret }}{{ $problems = append $problems "dashboard.oidc.clientId and dashboard.oidc.existingSecret require a provider: set dashboard.oidc.issuer" }}{{ end -}}
{{- if and .dashboard.oidc.existingSecret (hasKey .externalSecrets.keys "oidc") }}{{ $problems = append $problems "two secrets of the client: set only one of dashboard.oidc.existingSecret and externalSecrets.keys.oidc" }}{{ end -}}
{{- range $name, $pool := include "drape.pools" $ | fromJson -}}
{{- if $pool.enabled -}}
{{- $length := printf "%s-%s" (include "drape.fullname" $) $name | len -}}
{{- if gt $length 52 }}{{ $problems = append $problems (printf "pools.%s: the name of its WorkerPool would have %d characters, and may have 52: shorten it, or set fullnameOverride" $name $length) }}{{ end -}}
{{- if and (eq $pool.mode "Auto") (not $pool.scaling) }}{{ $problems = append $problems (printf "pools.%s.scaling: mode Auto requires scaling rules" $name) }}{{ end -}}
{{- if and (eq $pool.mode "Auto") (lt (dig "bounds" "max" 1 $pool.scaling | int) (dig "bounds" "min" 0 $pool.scaling | int)) }}{{ $problems = append $problems (printf "pools.%s.scaling.bounds: min must not be above max" $name) }}{{ end -}}
{{- if and (eq $pool.mode "Fixed") (eq (int $pool.replicas) 0) }}{{ $problems = append $problems (printf "pools.%s: mode Fixed requires replicas above 0: set replicas, or set enabled to false" $name) }}{{ end -}}
{{- range $engine := $pool.engines -}}
{{- if not (or (index $.Values.engines $engine) (has $engine $.Values.exportedEngines)) }}{{ $problems = append $problems (printf "pools.%s.engines: the engine %s is missing in engines and in exportedEngines" $name $engine) }}{{ end -}}
{{- end -}}
{{- if and (ne $pool.executionProvider "cpu") (not $pool.accelerator) }}{{ $problems = append $problems (printf "pools.%s: executionProvider %s requires an accelerator" $name $pool.executionProvider) }}{{ end -}}
{{- $selector := dig "nodeSelector" dict $pool.capacity -}}
{{- $shared := and $.Values.nodeSelector (or $selector $pool.accelerator) -}}
{{- range $key, $value := $selector }}{{ if ne (get $.Values.nodeSelector $key) $value }}{{ $shared = false }}{{ end }}{{ end -}}
{{- if and (include "drape.nextTo" $) (or $selector $pool.accelerator) (not $shared) }}{{ $problems = append $problems (printf "pools.%s needs nodes of its own, but the ReadWriteOnce volume for images keeps all pods on 1 node: set storage.kind to s3 or storage.pvc.accessMode to ReadWriteMany; or, for a trial with all pods on 1 of these nodes, set nodeSelector" $name) }}{{ end -}}
{{- $types := list (dig "type" "" $pool.capacity) -}}
{{- range $pool.tiers }}{{ $types = append $types .type }}{{ end -}}
{{- if and (has "spot" $types) (ne (include "drape.seesNodes" $) "true") }}{{ $problems = append $problems (printf "pools.%s runs on spot nodes, whose interruption notices the controller reads from nodes: set rbac.nodes to true" $name) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if .networkPolicy.enabled -}}
{{- $allowed := dict "config.fetchAllowCidrs" .config.fetchAllowCidrs -}}
{{- range $name, $cidrs := omit .networkPolicy "privateCidrs" "dnsCidrs" -}}
{{- if hasSuffix "Cidrs" $name }}{{ $_ := set $allowed (print "networkPolicy." $name) $cidrs }}{{ end -}}
{{- end -}}
{{- range $name, $cidrs := $allowed -}}
{{- range $cidr := $cidrs -}}
{{- range $denied := include "drape.deniedCidrs" $ | fromJsonArray -}}
{{- if hasPrefix (include "drape.cidrBits" $denied) (include "drape.cidrBits" $cidr) }}{{ $problems = append $problems (printf "%s contains %s, which is never reached, because it is within %s: remove it" $name $cidr $denied) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (not .rbac.create) (eq .rbac.scope "cluster") }}{{ $problems = append $problems "rbac.scope cluster requires rbac.create: set rbac.create, or set rbac.scope to namespace and create the roles yourself" }}{{ end -}}
{{- if and .openshift.enabled .admissionPolicy.enabled (not .admissionPolicy.allowPodTemplate) }}{{ $problems = append $problems "openshift.enabled needs podTemplate, which admissionPolicy refuses: set admissionPolicy.allowPodTemplate" }}{{ end -}}
{{- end -}}
{{- with $problems -}}
{{- fail (printf "\n\nThese values conflict:\n  - %s\n" (join "\n  - " .)) -}}
{{- end -}}
{{- end -}}
