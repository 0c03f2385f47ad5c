{{- /* Ends early, with what to do, where values cannot go together. */ -}}
{{- define "drape.check" -}}
{{- $problems := list -}}
{{- with .Values -}}
{{- $postgres := list .database.url .database.existingSecret (ternary .externalSecrets.databaseUrl "" .externalSecrets.enabled) | compact | len -}}
{{- if and .postgres.enabled (gt $postgres 0) }}{{ $problems = append $problems "two databases: set postgres.enabled to false, or give no database" }}{{ end -}}
{{- if and (not .postgres.enabled) (eq $postgres 0) }}{{ $problems = append $problems "no database: set database.existingSecret or database.url, or postgres.enabled" }}{{ end -}}
{{- if gt $postgres 1 }}{{ $problems = append $problems "two databases: give one of database.url, database.existingSecret and externalSecrets.databaseUrl" }}{{ end -}}
{{- range $process, $role := .database.roles -}}
{{- if and $role.name (not $.Values.database.existingSecret) }}{{ $problems = append $problems (printf "database.roles.%s has no URL: set database.existingSecret, a Secret with a key for each role" $process) }}{{ end -}}
{{- end -}}
{{- $redis := list .queue.url .queue.existingSecret (ternary .externalSecrets.queueUrl "" .externalSecrets.enabled) | compact | len -}}
{{- if and .redis.enabled (gt $redis 0) }}{{ $problems = append $problems "two queues: set redis.enabled to false, or give no queue" }}{{ end -}}
{{- if and (not .redis.enabled) (eq $redis 0) }}{{ $problems = append $problems "no queue: set queue.existingSecret or queue.url, or redis.enabled" }}{{ end -}}
{{- if gt $redis 1 }}{{ $problems = append $problems "two queues: give one of queue.url, queue.existingSecret and externalSecrets.queueUrl" }}{{ end -}}
{{- if and .signing.value .signing.existingSecret }}{{ $problems = append $problems "two signing secrets: give one of signing.value and signing.existingSecret" }}{{ end -}}
{{- if and (eq .exposure "ingress") (not .host) }}{{ $problems = append $problems "an ingress without a host: set host" }}{{ end -}}
{{- if and (eq .exposure "httpRoute") (or (not .host) (not .httpRoute.parentRefs)) }}{{ $problems = append $problems "a route needs host and httpRoute.parentRefs" }}{{ end -}}
{{- if and .ingress.tls.enabled (eq .exposure "none") }}{{ $problems = append $problems "ingress.tls without an ingress: set exposure" }}{{ end -}}
{{- if and (eq .storage.kind "s3") (not .storage.s3.bucket) }}{{ $problems = append $problems "no bucket: set storage.s3.bucket" }}{{ end -}}
{{- if and (eq .storage.kind "pvc") .storage.s3.bucket }}{{ $problems = append $problems "two storages: set storage.kind to s3, or give no storage.s3.bucket" }}{{ end -}}
{{- if and .storage.s3.existingSecret .storage.s3.accessKeyId }}{{ $problems = append $problems "two credentials of the bucket: give one of storage.s3.existingSecret and storage.s3.accessKeyId" }}{{ end -}}
{{- if and .storage.s3.accessKeyId (not .storage.s3.secretAccessKey) }}{{ $problems = append $problems "storage.s3.accessKeyId and storage.s3.secretAccessKey go together" }}{{ end -}}
{{- if and .externalSecrets.enabled (not .externalSecrets.secretStoreRef.name) }}{{ $problems = append $problems "external secrets without a store: set externalSecrets.secretStoreRef.name" }}{{ end -}}
{{- if and .api.autoscaling.enabled (gt (int .api.autoscaling.minReplicas) (int .api.autoscaling.maxReplicas)) }}{{ $problems = append $problems "api.autoscaling.minReplicas is above maxReplicas" }}{{ end -}}
{{- if lt (int .api.terminationGracePeriodSeconds) (add .api.preStopSeconds .api.lingerSeconds 20 | int) }}{{ $problems = append $problems "api.terminationGracePeriodSeconds is too short: it has to be at least preStopSeconds + lingerSeconds + 20" }}{{ end -}}
{{- if and .dashboard.ingress.enabled (not .dashboard.enabled) }}{{ $problems = append $problems "an ingress to no dashboard: set dashboard.enabled" }}{{ end -}}
{{- if and .dashboard.ingress.enabled (not .dashboard.ingress.host) }}{{ $problems = append $problems "an ingress to the dashboard without a host: set dashboard.ingress.host" }}{{ end -}}
{{- if and .dashboard.ingress.enabled .host (eq .dashboard.ingress.host .host) }}{{ $problems = append $problems "dashboard.ingress.host is host: callers would come upon the dashboard; give it a name of its own" }}{{ end -}}
{{- if and .dashboard.ingress.enabled .dashboard.url (ne .dashboard.ingress.host (regexReplaceAll "^https?://([^/:]+).*$" .dashboard.url "${1}")) }}{{ $problems = append $problems "dashboard.url is not on dashboard.ingress.host: every form would be refused" }}{{ end -}}
{{- if and .dashboard.ingress.enabled .networkPolicy.enabled (not .networkPolicy.dashboardFrom) }}{{ $problems = append $problems "network policies keep the ingress away from the dashboard: set networkPolicy.dashboardFrom" }}{{ end -}}
{{- if .dashboard.oidc.issuer -}}
{{- if not .dashboard.enabled }}{{ $problems = append $problems "a provider for no dashboard: set dashboard.enabled" }}{{ end -}}
{{- if not .dashboard.oidc.clientId }}{{ $problems = append $problems "a provider without a client: set dashboard.oidc.clientId" }}{{ end -}}
{{- if not (or .dashboard.url .dashboard.ingress.enabled) }}{{ $problems = append $problems "a provider has to know where it sends browsers back: set dashboard.url, or dashboard.ingress" }}{{ end -}}
{{- else if or .dashboard.oidc.clientId .dashboard.oidc.existingSecret }}{{ $problems = append $problems "a client of no provider: set dashboard.oidc.issuer" }}{{ end -}}
{{- if and .dashboard.oidc.existingSecret .externalSecrets.enabled .externalSecrets.oidcClientSecret }}{{ $problems = append $problems "two secrets of the client: give one of dashboard.oidc.existingSecret and externalSecrets.oidcClientSecret" }}{{ end -}}
{{- range $name, $pool := .pools -}}
{{- if $pool.enabled -}}
{{- if and (eq $pool.mode "Auto") (not $pool.scaling) }}{{ $problems = append $problems (printf "pools.%s.scaling: mode Auto needs rules" $name) }}{{ end -}}
{{- if and (eq $pool.mode "Auto") (lt (dig "bounds" "max" 1 $pool.scaling | int) (dig "bounds" "min" 0 $pool.scaling | int)) }}{{ $problems = append $problems (printf "pools.%s.scaling.bounds: min is above max" $name) }}{{ end -}}
{{- if and (eq $pool.mode "Fixed") (eq (int $pool.replicas) 0) }}{{ $problems = append $problems (printf "pools.%s: a fixed pool of no workers; set replicas, or enabled to false" $name) }}{{ end -}}
{{- range $engine := $pool.engines -}}
{{- if not (index $.Values.engines $engine) }}{{ $problems = append $problems (printf "pools.%s.engines names %s, which is not in engines" $name $engine) }}{{ end -}}
{{- end -}}
{{- if and (ne $pool.executionProvider "cpu") (not $pool.accelerator) }}{{ $problems = append $problems (printf "pools.%s: executionProvider %s needs an accelerator" $name $pool.executionProvider) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if and (not .rbac.create) (eq .rbac.scope "cluster") }}{{ $problems = append $problems "rbac.scope cluster without rbac.create: make the roles yourself and leave the scope, or set rbac.create" }}{{ end -}}
{{- if and (eq .metrics.monitors "always") (not .metrics.interval) }}{{ $problems = append $problems "metrics.interval is empty" }}{{ end -}}
{{- end -}}
{{- if and .Values.crds.install (not (.Files.Get "packaged")) }}{{ $problems = append $problems "this is the source of the chart, without the custom resource definitions: scripts/chart build makes the chart itself" }}{{ end -}}
{{- with $problems -}}
{{- fail (printf "\n\nThese values cannot go together:\n  - %s\n" (join "\n  - " .)) -}}
{{- end -}}
{{- end -}}
