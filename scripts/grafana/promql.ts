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

/** The quotient of two expressions; empty, not NaN, where nothing happened. */
export function ratio(part: string, whole: string): string {
  return `${part} / (${whole} > 0)`
}

/** A quantile of a histogram by these labels; empty, not NaN, where nothing was observed. */
export function quantile(q: number, by: string, metric: string, ...matchers: readonly string[]): string {
  return quantileOfRates(q, by, rate(`${metric}_bucket`, ...matchers))
}

/** Like `quantile`, of rates of the buckets. */
export function quantileOfRates(q: number, by: string, rates: string): string {
  const labels = by === '' ? 'le' : `${by}, le`
  return `histogram_quantile(${q}, sum by (${labels}) (${rates})) >= 0`
}

/** The mean of a histogram by these labels; empty, not NaN, where nothing was observed. */
export function mean(by: string, metric: string, ...matchers: readonly string[]): string {
  return ratio(sumRate(by, `${metric}_sum`, ...matchers), sumRate(by, `${metric}_count`, ...matchers))
}

/** The maximum of a value that all processes report. */
export function highest(by: string, metric: string, ...matchers: readonly string[]): string {
  return by === '' ? `max(${of(metric, ...matchers)})` : `max by (${by}) (${of(metric, ...matchers)})`
}

/** Restricts a metric to processes of this name. */
export function ofProcess(metric: string, name = '.+'): string {
  return `${of(metric)} * on (namespace, instance) group_left (process) ${of('drape_build_info', `process=~"${name}"`)}`
}
