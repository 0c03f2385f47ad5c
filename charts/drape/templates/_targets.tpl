{{- /* Events, errors and allowed errors of the objectives. `rules/targets.yaml` is the result for the default values. */ -}}
{{- define "drape.targets" -}}
{{- $objectives := .Values.metrics.objectives -}}
{{- /* Another release has other objectives. With the scope cluster, pools are in all namespaces. */ -}}
{{- $in := ternary "" (printf "namespace=%q, " .Release.Namespace) (eq .Values.rbac.scope "cluster") -}}
{{- $of := "sum by (namespace, engine, class)" -}}
groups:
  - name: drape-targets
    interval: 1m
    rules:
      - record: drape:slo_events:rate5m
        expr: sum by (namespace) (rate(drape_http_requests_total{ {{- $in }}}[5m]))
        labels: { slo: availability }
      - record: drape:slo_errors:rate5m
        expr: |
          sum by (namespace) (rate(drape_http_requests_total{ {{- $in }}status=~"5.."}[5m]))
          or 0 * sum by (namespace) (rate(drape_http_requests_total{ {{- $in }}}[5m]))
        labels: { slo: availability }
      - record: drape:slo_events:rate5m
        expr: {{ $of }} (rate(drape_generation_start_seconds_count{ {{- $in }}engine!="mock", class!="batch"}[5m]))
        labels: { slo: start }
      - record: drape:slo_errors:rate5m
        expr: |
          clamp_min(
            drape:slo_events:rate5m{slo="start"}
            - on (namespace, engine, class) (
{{- include "drape.withinSeconds" (dict "metric" "drape_generation_start_seconds_bucket" "matchers" `outcome="started"` "in" $in "objective" $objectives.start) | nindent 14 }}
              or 0 * {{ $of }} (rate(drape_generation_start_seconds_count{ {{- $in }}engine!="mock", class!="batch"}[5m]))
            ),
            0
          )
        labels: { slo: start }
      - record: drape:slo_events:rate5m
        expr: |
          {{ $of }} (rate(drape_generations_finished_total{ {{- $in }}engine!="mock", status="COMPLETED"}[5m])
            or rate(drape_generations_finished_total{ {{- $in }}engine!="mock", status="FAILED", code=~"GENERATION_FAILED|GENERATION_TIMEOUT|SAFETY_UNAVAILABLE"}[5m]))
        labels: { slo: success }
      - record: drape:slo_errors:rate5m
        expr: |
          {{ $of }} (rate(drape_generations_finished_total{ {{- $in }}engine!="mock", status="FAILED", code=~"GENERATION_FAILED|GENERATION_TIMEOUT|SAFETY_UNAVAILABLE"}[5m]))
          or 0 * {{ $of }} (rate(drape_generations_finished_total{ {{- $in }}engine!="mock"}[5m]))
        labels: { slo: success }
      - record: drape:slo_events:rate5m
        expr: |
          {{ $of }} (rate(drape_generations_finished_total{ {{- $in }}engine!="mock", class!="batch", status="COMPLETED"}[5m])
            or rate(drape_generations_finished_total{ {{- $in }}engine!="mock", class!="batch", status="FAILED", code=~"GENERATION_FAILED|GENERATION_TIMEOUT|SAFETY_UNAVAILABLE"}[5m]))
        labels: { slo: time-to-result }
      - record: drape:slo_errors:rate5m
        expr: |
          clamp_min(
            drape:slo_events:rate5m{slo="time-to-result"}
            - on (namespace, engine, class) (
{{- include "drape.withinSeconds" (dict "metric" "drape_generation_seconds_bucket" "matchers" `status="COMPLETED"` "in" $in "objective" $objectives.timeToResult) | nindent 14 }}
              or 0 * {{ $of }} (rate(drape_generations_finished_total{ {{- $in }}engine!="mock", class!="batch"}[5m]))
            ),
            0
          )
        labels: { slo: time-to-result }
      - record: drape:slo_allowed_errors:rate5m
        expr: drape:slo_events:rate5m{ {{- $in }}slo="availability"} * (100 - {{ $objectives.availability.percent }}) / 100
        labels: { slo: availability }
{{- range $slo, $objective := dict "start" $objectives.start "success" $objectives.success "time-to-result" $objectives.timeToResult }}
{{- range $class := ternary (list "standard" "premium" "batch") (list "standard" "premium") (eq $slo "success") }}
      - record: drape:slo_allowed_errors:rate5m
        expr: drape:slo_events:rate5m{ {{- $in }}slo="{{ $slo }}", class="{{ $class }}"} * (100 - {{ get $objective.percentByClass $class | default $objective.percent }}) / 100
        labels: { slo: {{ $slo }}, class: {{ $class }} }
{{- end }}
{{- end }}
{{- end }}

{{- /* Rate of observations within the seconds of their engine. `le` is written as 30 or 30.0, depending on the version of Prometheus. */ -}}
{{- define "drape.withinSeconds" -}}
{{- $named := .objective.secondsByEngine -}}
sum by (namespace, engine, class) (rate({{ .metric }}{ {{- .in }}engine!~"{{ prepend (keys $named | sortAlpha) "mock" | join "|" }}", class!="batch", {{ .matchers }}, le=~"{{ .objective.seconds }}(\\.0)?"}[5m]))
{{- range $engine, $seconds := $named }}
or sum by (namespace, engine, class) (rate({{ $.metric }}{ {{- $.in }}engine="{{ $engine }}", class!="batch", {{ $.matchers }}, le=~"{{ $seconds }}(\\.0)?"}[5m]))
{{- end }}
{{- end }}
