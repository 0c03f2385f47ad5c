/** Names of metrics with the matchers behind them, as they stand in a PromQL expression. */
export function findSelectors(expr: string): { metric: string; matchers: readonly string[] }[] {
  const found = expr.matchAll(/\b((?:drape[_:]|nodejs_|process_)[a-zA-Z0-9_:]+)(?:\{([^{}]*)\})?/g)
  return [...found].map(([, metric, text = '']) => ({
    metric,
    matchers: [...text.matchAll(/[a-z_]+(?:=~|!~|!=|=)"(?:[^"\\]|\\.)*"/g)].map(([matcher]) => matcher),
  }))
}

/** A query of a dashboard as Grafana sends it, with everything chosen, for a range in seconds. */
export function fillIn(expr: string, { rateSeconds = 10, rangeSeconds = 600 } = {}): string {
  return expr
    .replaceAll('$__rate_interval', `${rateSeconds}s`)
    .replaceAll('$__range_s', String(rangeSeconds))
    .replaceAll('$__range', `${rangeSeconds}s`)
    .replaceAll(/"\$(namespace|engine|route|pool|policy)"/g, '".*"')
}
