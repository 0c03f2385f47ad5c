{{- /* Security context of a pod under the Pod Security Standard `restricted`; OpenShift assigns the IDs itself. */ -}}
{{- define "drape.podSecurityContext" -}}
{{- $uid := default 65532 .uid -}}
{{- $context := dict "runAsNonRoot" true "fsGroupChangePolicy" "OnRootMismatch" "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- if not .root.Values.openshift.enabled }}{{ $context = merge $context (dict "runAsUser" $uid "runAsGroup" $uid "fsGroup" $uid) }}{{ end -}}
{{- toYaml $context -}}
{{- end -}}

{{- define "drape.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- /* First fields of every pod spec: ServiceAccount and security settings. (dict "root" $ "component" "api" "serviceAccountName" … "automount" false). */ -}}
{{- define "drape.podStart" -}}
{{- with .serviceAccountName }}
serviceAccountName: {{ . }}
{{- end }}
automountServiceAccountToken: {{ default false .automount }}
enableServiceLinks: false
securityContext:
  {{- include "drape.podSecurityContext" . | nindent 2 }}
{{- include "drape.pullSecrets" .root }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Placement of a component's replicas: spread, or together if the volume can be mounted on one node only. */ -}}
{{- define "drape.placement" -}}
{{- $matchLabels := include "drape.selectorLabels" . | fromYaml -}}
{{- $neighbours := include "drape.nextTo" .root | fromYaml -}}
{{- if $neighbours }}
affinity:
  podAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector: { matchLabels: {{ toJson $neighbours }} }
{{- else }}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector: { matchLabels: {{ toJson $matchLabels }} }
{{- end }}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: {{ toJson $matchLabels }} }
  {{- end }}
{{- end -}}

{{- /* A pod spec completed by the podSpec of the component's values: (dict "root" $ "component" "api" "spec" "drape.apiPod"). */ -}}
{{- define "drape.podSpec" -}}
{{- toYaml (mergeOverwrite (include .spec .root | fromYaml) (index .root.Values .component).podSpec) -}}
{{- end -}}

{{- /* Labels of the pods that share a volume that can be mounted on one node only; empty without such a volume. */ -}}
{{- define "drape.nextTo" -}}
{{- if and (eq .Values.storage.kind "pvc") (eq .Values.storage.pvc.accessMode "ReadWriteOnce") -}}
drape.dev/objects: {{ include "drape.claimName" . }}
{{- end -}}
{{- end -}}

{{- /* Labels without the chart version, so that an upgrade does not restart databases. */ -}}
{{- define "drape.podLabels" -}}
{{- $values := dig .component dict (omit .root.Values "global") -}}
{{- $neighbours := ternary (include "drape.nextTo" .root | fromYaml) dict (has .component (list "api" "controller")) -}}
{{- $labels := ternary (include "drape.lastingLabels" .) (include "drape.labels" .) (has .component (list "postgres" "redis")) -}}
{{- toYaml (merge ($labels | fromYaml) $neighbours (default dict $values.podLabels)) -}}
{{- end -}}

{{- /*
Environment variables of a process in the format of a WorkerPool: a list of name and value or secret. (dict "root" $ "component" "api");
components are api, controller, workers, migrations and tests.
*/ -}}
{{- define "drape.variables" -}}
{{- $values := .root.Values -}}
{{- $database := include "drape.secretKey" (dict "root" .root "what" "database") | fromYaml -}}
{{- /* Tests do what callers and the API do. */ -}}
{{- $process := get (dict "workers" "worker" "tests" "api") .component | default .component -}}
{{- $ownRoles := include "drape.ownRoles" .root -}}
{{- $owner := deepCopy $database -}}
{{- $hasRole := or $ownRoles (dig $process "" $values.database.roles) -}}
{{- if and $hasRole (has $process (list "api" "controller")) }}{{ $_ := set $database "key" (printf "%s-url" $process) }}{{ end -}}
{{- $list := list -}}
{{- if ne .component "workers" }}{{ $list = append $list (dict "name" "DATABASE_URL" "secret" $database) }}{{ end -}}
{{- if and $values.database.direct (has .component (list "api" "controller" "migrations")) -}}
{{- $list = append $list (dict "name" "DATABASE_DIRECT_URL" "secret" (dict "name" $database.name "key" (printf "direct-%s" $database.key))) -}}
{{- end -}}
{{- if and $ownRoles (eq .component "migrations") -}}
{{- range $role := list "api" "controller" -}}
{{- $list = append $list (dict "name" (printf "%s_DATABASE_URL" (upper $role)) "secret" (dict "name" $owner.name "key" (printf "%s-url" $role))) -}}
{{- end -}}
{{- end -}}
{{- if ne .component "migrations" -}}
{{- $queue := include "drape.secretKey" (dict "root" .root "what" "queue") | fromYaml -}}
{{- if or $values.queue.roles $values.redis.enabled }}{{ $_ := set $queue "key" (printf "%s-url" $process) }}{{ end -}}
{{- $list = concat $list (list
  (dict "name" "REDIS_URL" "secret" $queue)
  (dict "name" "STORAGE_URL" "value" (include "drape.storageUrl" .root))
  (dict "name" "PUBLIC_URL" "value" (include "drape.publicUrl" .root))
  (dict "name" "LOG_LEVEL" "value" $values.config.logLevel)
  (dict "name" "FETCH_ALLOW_CIDRS" "value" (join "," $values.config.fetchAllowCidrs))
  (dict "name" "FETCH_ALLOW_PORTS" "value" (join "," $values.config.fetchAllowPorts))) -}}
{{- with include "drape.s3Secret" .root -}}
{{- $list = concat $list (list
  (dict "name" "AWS_ACCESS_KEY_ID" "secret" (dict "name" . "key" "AWS_ACCESS_KEY_ID"))
  (dict "name" "AWS_SECRET_ACCESS_KEY" "secret" (dict "name" . "key" "AWS_SECRET_ACCESS_KEY"))) -}}
{{- end -}}
{{- if eq .component "api" -}}
{{- $key := include "drape.secretKey" (dict "root" .root "what" "provenance") | fromYaml -}}
{{- $receiptKey := default $key.key (ternary $values.provenance.receiptKey "receipts.key" (not (empty $values.provenance.existingSecret))) -}}
{{- $list = append $list (dict "name" "RECEIPT_KEY" "secret" (dict "name" $key.name "key" $receiptKey)) -}}
{{- end -}}
{{- if eq .component "workers" -}}
{{- $key := include "drape.secretKey" (dict "root" .root "what" "provenance") | fromYaml -}}
{{- $list = append $list (dict "name" "PROVENANCE_KEY" "secret" $key) -}}
{{- if and $values.provenance.existingSecret $values.provenance.certificateKey -}}
{{- $list = append $list (dict "name" "PROVENANCE_CERTIFICATE" "secret" (dict "name" $key.name "key" $values.provenance.certificateKey)) -}}
{{- end -}}
{{- end -}}
{{- if and (eq .component "workers") $values.ageCheck.enabled -}}
{{- $list = append $list (dict "name" "AGE_CHECK" "value" (toString $values.ageCheck.enabled)) -}}
{{- end -}}
{{- if and (eq .component "workers") $values.safetyList.url -}}
{{- $list = concat $list (list
  (dict "name" "SAFETY_LIST_URL" "value" $values.safetyList.url)
  (dict "name" "SAFETY_LIST_SECRET" "secret" (dict "name" $values.safetyList.existingSecret "key" "secret"))) -}}
{{- end -}}
{{- if has .component (list "api" "workers" "controller") -}}
{{- $list = concat $list (include "drape.telemetryVariables" .root | fromYamlArray) -}}
{{- end -}}
{{- end -}}
{{- if $values.trustedCertificates.configMap -}}
{{- $list = append $list (dict "name" "NODE_EXTRA_CA_CERTS" "value" "/etc/drape/certificates/ca.crt") -}}
{{- end -}}
{{- toYaml $list -}}
{{- end -}}

{{- define "drape.telemetryVariables" -}}
{{- $list := list -}}
{{- with .Values.telemetry -}}
{{- if .endpoint -}}
{{- $attributes := list -}}
{{- range $key, $value := .resourceAttributes }}{{ $attributes = append $attributes (printf "%s=%s" $key $value) }}{{ end -}}
{{- $list = list
  (dict "name" "OTEL_EXPORTER_OTLP_ENDPOINT" "value" .endpoint)
  (dict "name" "OTEL_TRACES_SAMPLER" "value" "parentbased_traceidratio")
  (dict "name" "OTEL_TRACES_SAMPLER_ARG" "value" .samplerArgument)
  (dict "name" "OTEL_RESOURCE_ATTRIBUTES" "value" (join "," $attributes)) -}}
{{- if .headersSecret -}}
{{- $list = append $list (dict "name" "OTEL_EXPORTER_OTLP_HEADERS" "secret" (dict "name" .headersSecret "key" "OTEL_EXPORTER_OTLP_HEADERS")) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $list -}}
{{- end -}}

{{- /* Environment variables in the format of a pod; with "only", those of these names. */ -}}
{{- define "drape.env" -}}
{{- $only := .only -}}
{{- range include "drape.variables" . | fromYamlArray }}
{{- if or (not $only) (has .name $only) }}
- name: {{ .name }}
  {{- if .secret }}
  valueFrom: { secretKeyRef: { name: {{ .secret.name }}, key: {{ .secret.key }} } }
  {{- else }}
  value: {{ .value | quote }}
  {{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* Volumes that depend on the values: objects (unless "withoutObjects"), certificates, temporary files. */ -}}
{{- define "drape.volumeMounts" -}}
- { name: temporary, mountPath: /tmp }
{{- if and (eq .root.Values.storage.kind "pvc") (not .withoutObjects) }}
- { name: objects, mountPath: /var/lib/drape }
{{- end }}
{{- if .root.Values.trustedCertificates.configMap }}
- { name: certificates, mountPath: /etc/drape/certificates, readOnly: true }
{{- end }}
{{- end -}}

{{- define "drape.volumes" -}}
- name: temporary
  emptyDir: { sizeLimit: {{ default "256Mi" .temporarySize }} }
{{- if and (eq .root.Values.storage.kind "pvc") (not .withoutObjects) }}
- name: objects
  persistentVolumeClaim: { claimName: {{ include "drape.claimName" .root }} }
{{- end }}
{{- with .root.Values.trustedCertificates.configMap }}
- name: certificates
  configMap: { name: {{ . }} }
{{- end }}
{{- end -}}

{{- /* Command that migrates the database and grants the privileges of each role. */ -}}
{{- define "drape.migrate" -}}
{{- $grants := list -}}
{{- range $process, $role := .Values.database.roles -}}
{{- if $role }}{{ $grants = append $grants (printf "%s=%s" $process $role) }}{{ end -}}
{{- end -}}
{{- $arguments := list "migrate" "--wait-seconds" "600" "--await-legal-holds" -}}
{{- if include "drape.ownRoles" . }}{{ $arguments = append $arguments "--create-roles" }}{{ end -}}
{{- if $grants }}{{ $arguments = concat $arguments (list "--grant" (join "," $grants)) }}{{ end -}}
{{- toJson $arguments -}}
{{- end -}}

{{- /* Waits until the database has the schema of this version. With migrations.mode initContainer, the API migrates the database. */ -}}
{{- define "drape.awaitMigrations" -}}
{{- $migrates := and (eq .component "api") (eq .root.Values.migrations.mode "initContainer") -}}
- name: migrations
  image: {{ include "drape.image" (dict "root" .root "image" .root.Values.api.image) }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command: [node, scripts/drape.ts]
  args: {{ ternary (include "drape.migrate" .root) (list "check" "migrations" "--wait-seconds" "600" | toJson) $migrates }}
  env:
    {{- /* A pod that only waits gets no URL of the owner. */}}
    {{- $only := ternary list (list "DATABASE_URL" "NODE_EXTRA_CA_CERTS") $migrates }}
    {{- include "drape.env" (dict "root" .root "component" (ternary "migrations" .component $migrates) "only" $only) | nindent 4 }}
    {{- with .root.Values.migrations.extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  resources:
    requests: { cpu: 50m, memory: 128Mi }
    limits: { memory: 512Mi }
  securityContext:
    {{- include "drape.containerSecurityContext" . | nindent 4 }}
  volumeMounts:
    {{- include "drape.volumeMounts" (dict "root" .root "withoutObjects" true) | nindent 4 }}
{{- end -}}

{{- /* Probes of a process. Only the readiness probe checks dependencies. */ -}}
{{- define "drape.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: probes }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: probes }
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: probes }
  periodSeconds: 3
  timeoutSeconds: 3
  failureThreshold: 2
{{- end -}}

{{- /* The pools by name, as JSON: a pool of another name than cpu with the values of the pool that it is like. */ -}}
{{- define "drape.pools" -}}
{{- $pools := dict -}}
{{- range $name, $own := .Values.pools -}}
{{- if not (kindIs "invalid" $own) -}}
{{- $layers := list $own -}}
{{- if ne $name "cpu" -}}
{{- $like := default "cpu" $own.like -}}
{{- $base := index $.Values.pools $like -}}
{{- if not $base }}{{ fail (printf "\n\nThese values conflict:\n  - pools.%s: the pool %s that it is like does not exist: set enabled of a pool to false rather than null\n" $name $like) }}{{ end -}}
{{- if $base.like }}{{ fail (printf "\n\nThese values conflict:\n  - pools.%s: the pool %s that it is like is itself like another: name that one\n" $name $like) }}{{ end -}}
{{- $layers = list $.Values.pools.cpu (omit $base "enabled") (dict "enabled" true) (omit $own "like") -}}
{{- end -}}
{{- /* Not merge: it takes 0 and false for values that are not set, and joins a target or an accelerator with another. */ -}}
{{- $pool := dict -}}
{{- range $layer := $layers }}{{ range $key, $value := $layer }}{{ $_ := set $pool $key $value }}{{ end }}{{ end -}}
{{- $_ := set $pools $name $pool -}}
{{- end -}}
{{- end -}}
{{- toJson $pools -}}
{{- end -}}

{{- /* Worker settings of a pool in the format of a WorkerPool: (dict "root" $ "pool" $pool). */ -}}
{{- define "drape.workerTemplate" -}}
{{- $values := .root.Values -}}
image: {{ include "drape.image" (dict "root" .root "image" .pool.image) }}
imagePullPolicy: {{ $values.image.pullPolicy }}
imagePullSecrets: {{ toJson $values.global.imagePullSecrets }}
serviceAccountName: {{ include "drape.serviceAccountName" (dict "root" .root "component" "workers") }}
env:
  {{- include "drape.variables" (dict "root" .root "component" "workers") | nindent 2 }}
  - { name: EXECUTION_PROVIDER, value: {{ .pool.executionProvider }} }
  - { name: WORK_SECONDS, value: {{ .pool.workSeconds | quote }} }
  {{- with .pool.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
requests:
  {{- toYaml .pool.requests | nindent 2 }}
{{- with .pool.limits }}
limits:
  {{- toYaml . | nindent 2 }}
{{- end }}
labels:
  {{- $labels := dict "app.kubernetes.io/instance" .root.Release.Name "app.kubernetes.io/part-of" "drape" "app.kubernetes.io/component" "worker" }}
  {{- toYaml (merge $labels (include "drape.nextTo" .root | fromYaml) .pool.podLabels $values.commonLabels) | nindent 2 }}
annotations: {{ toJson .pool.podAnnotations }}
nextTo: {{ include "drape.nextTo" .root | fromYaml | toJson }}
tolerations: {{ toJson .pool.tolerations }}
{{- with .pool.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
temporaryBytes: {{ .pool.temporaryBytes | int64 }}
{{- $volumes := list }}
{{- if eq $values.storage.kind "pvc" }}
{{- $volumes = append $volumes (dict "name" "objects" "mountPath" "/var/lib/drape" "claim" (include "drape.claimName" .root)) }}
{{- end }}
{{- with $values.trustedCertificates.configMap }}
{{- $volumes = append $volumes (dict "name" "certificates" "mountPath" "/etc/drape/certificates" "readOnly" true "configMap" .) }}
{{- end }}
{{- if .pool.sharedMemoryBytes }}
{{- $volumes = append $volumes (dict "name" "shared-memory" "mountPath" "/dev/shm" "memoryBytes" (int64 .pool.sharedMemoryBytes)) }}
{{- end }}
volumes: {{ concat $volumes .pool.extraVolumes | default list | toJson }}
{{- end -}}
