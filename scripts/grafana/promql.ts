/** A metric of the chosen namespaces, with further matchers. */
export function of(metric: string, ...matchers: readonly string[]): string {
  return `${metric}{${['namespace=~"$namespace"', ...matchers].join(', ')}}`
}

/** Its rate a second. */
export function rate(metric: string, ...matchers: readonly string[]): string {
  return `rate(${of(metric, ...matchers)}[$__rate_interval])`
}

/** The sum of the rates, one for each value of these labels. */
export function sumRate(by: string, metric: string, ...matchers: readonly string[]): string {
  return by === '' ? `sum(${rate(metric, ...matchers)})` : `sum by (${by}) (${rate(metric, ...matchers)})`
}

/** A quantile of a histogram, one for each value of these labels. */
export function quantile(q: number, by: string, metric: string, ...matchers: readonly string[]): string {
  const labels = by === '' ? 'le' : `${by}, le`
  return `histogram_quantile(${q}, sum by (${labels}) (${rate(`${metric}_bucket`, ...matchers)}))`
}

/** The mean of a histogram, one for each value of these labels. */
export function mean(by: string, metric: string, ...matchers: readonly string[]): string {
  return `${sumRate(by, `${metric}_sum`, ...matchers)} / ${sumRate(by, `${metric}_count`, ...matchers)}`
}

/** A value that every process reports alike: the highest of them. */
export function highest(by: string, metric: string, ...matchers: readonly string[]): string {
  return by === '' ? `max(${of(metric, ...matchers)})` : `max by (${by}) (${of(metric, ...matchers)})`
}

/** The metric of those processes that bear this name, beside it. */
export function ofProcess(metric: string, name = '.+'): string {
  return `${of(metric)} * on (namespace, instance) group_left (process) ${of('drape_build_info', `process=~"${name}"`)}`
}
