/** A selector of a metric in the selected namespaces, with further matchers. */
export function of(metric: string, ...matchers: readonly string[]): string {
  return `${metric}{${['namespace=~"$namespace"', ...matchers].join(', ')}}`
}

/** Rate per second of a metric. */
export function rate(metric: string, ...matchers: readonly string[]): string {
  return `rate(${of(metric, ...matchers)}[$__rate_interval])`
}

/** The sum of the rates by these labels. */
export function sumRate(by: string, metric: string, ...matchers: readonly string[]): string {
  return by === '' ? `sum(${rate(metric, ...matchers)})` : `sum by (${by}) (${rate(metric, ...matchers)})`
}

/** A quantile of a histogram by these labels. */
export function quantile(q: number, by: string, metric: string, ...matchers: readonly string[]): string {
  const labels = by === '' ? 'le' : `${by}, le`
  return `histogram_quantile(${q}, sum by (${labels}) (${rate(`${metric}_bucket`, ...matchers)}))`
}

/** The mean of a histogram by these labels. */
export function mean(by: string, metric: string, ...matchers: readonly string[]): string {
  return `${sumRate(by, `${metric}_sum`, ...matchers)} / ${sumRate(by, `${metric}_count`, ...matchers)}`
}

/** The maximum of a value that all processes report. */
export function highest(by: string, metric: string, ...matchers: readonly string[]): string {
  return by === '' ? `max(${of(metric, ...matchers)})` : `max by (${by}) (${of(metric, ...matchers)})`
}

/** Restricts a metric to processes of this name. */
export function ofProcess(metric: string, name = '.+'): string {
  return `${of(metric)} * on (namespace, instance) group_left (process) ${of('drape_build_info', `process=~"${name}"`)}`
}
