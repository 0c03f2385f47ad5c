/** Names of metrics with the matchers behind them, as they stand in a PromQL expression. */
export function findSelectors(expr: string): { metric: string; matchers: readonly string[] }[] {
  const found = expr.matchAll(/\b((?:drape[_:]|nodejs_|process_)[a-zA-Z0-9_:]+)(?:\{([^{}]*)\})?/g)
  return [...found].map(([, metric, text = '']) => ({
    metric,
    matchers: [...text.matchAll(/[a-z_]+(?:=~|!~|!=|=)"(?:[^"\\]|\\.)*"/g)].map(([matcher]) => matcher),
  }))
}

/** A query of a dashboard as Grafana sends it, with everything chosen, for a range of 10 minutes. */
export function fillIn(expr: string): string {
  return expr
    .replaceAll('$__rate_interval', '10s')
    .replaceAll('$__range_s', '600')
    .replaceAll('$__range', '600s')
    .replaceAll(/"\$(namespace|engine|route|pool|policy)"/g, '".*"')
}
