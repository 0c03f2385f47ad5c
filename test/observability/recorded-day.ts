import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../../scripts/stack/commands.ts'
import { requestService } from '../support/request-service.ts'
import { type PrometheusServer, type Series, startPrometheus } from './prometheus-server.ts'
import { findSelectors } from './queries.ts'
import { DAY, type RealSeries, writeDay, writeSample } from './scripted-day.ts'

export interface Rule {
  readonly alert?: string
  readonly record?: string
  readonly expr: string
  readonly for?: string
  readonly labels?: Readonly<Record<string, string>>
}

/** The scripted day in a real Prometheus. */
export interface RecordedDay {
  /** Results of a query over the day. */
  query(expr: string): Promise<readonly Series[]>
  /** The hour of the day at a time of a result. */
  hourAt(time: number): number
  /** Hours of the day at which the alert fires. */
  firing(alert: Rule): Promise<readonly number[]>
  end(): Promise<unknown>
}

/** Records the day with these series, until now, and then what the recording rules make of it. */
export async function recordDay(
  { prometheus, promtool }: { prometheus: string; promtool: string },
  { series, rules, namespace }: { series: readonly RealSeries[]; rules: readonly Rule[]; namespace: string },
): Promise<RecordedDay> {
  const { path: folder } = await requestService('folder', null)
  const data = join(folder, 'data')
  await mkdir(data)
  const end = Math.floor(Date.now() / 1000 / DAY.step) * DAY.step
  const start = end - DAY.hours * 3600
  const record = async (text: string) => {
    const file = join(folder, 'samples.txt')
    await writeFile(file, text)
    await run(promtool, ['tsdb', 'create-blocks-from', '--quiet', 'openmetrics', file, data])
  }
  for (const text of writeDay(series, start)) await record(text)
  const open = async () => createDay(await startPrometheus(prometheus, { rules: [], namespace, data }), start)
  let day = await open()
  for (const level of levelsOf(rules)) {
    const results = await Promise.all(level.map(async (rule) => writeResults(rule, await day.query(rule.expr))))
    await record(`${results.flat().join('\n')}\n# EOF\n`)
    // It reads new blocks when it starts.
    await day.end()
    day = await open()
  }
  return day
}

/** The samples that a recording rule makes. */
function writeResults({ record = '', labels = {} }: Rule, results: readonly Series[]): string[] {
  return results.flatMap(({ metric, values }) => {
    const named = { ...metric, ...labels, __name__: record }
    return values.map(([time, value]) => writeSample(named, value, time))
  })
}

function createDay(server: PrometheusServer, start: number): RecordedDay {
  const range = { start: start + DAY.step, end: start + DAY.hours * 3600, step: DAY.step }
  const query = (expr: string) => server.query(expr, range)
  const hourAt = (time: number) => (time - start) / 3600
  return {
    query,
    hourAt,
    firing: async ({ expr, for: wait = '0m' }) => {
      const steps = Math.ceil((Number.parseInt(wait, 10) * 60) / DAY.step)
      const hours = (await query(expr)).flatMap(({ values }) => {
        const times = new Set(values.map(([time]) => time))
        const isTrueSince = (time: number) =>
          Array.from({ length: steps + 1 }, (_, step) => time - step * DAY.step).every((at) => times.has(at))
        return [...times].filter(isTrueSince).map(hourAt)
      })
      return [...new Set(hours)].sort((a, b) => a - b)
    },
    end: () => server.end(),
  }
}

/** Recording rules by depth: those that read no other, those that read the first, and so on. */
function levelsOf(rules: readonly Rule[]): Rule[][] {
  const recording = rules.filter(({ record }) => record !== undefined)
  const depthOf = (rule: Rule): number => {
    const read = findSelectors(rule.expr).map(({ metric }) => metric)
    const sources = recording.filter((other) => read.includes(other.record ?? '') && other.record !== rule.record)
    return sources.length === 0 ? 0 : 1 + Math.max(...sources.map(depthOf))
  }
  const levels: Rule[][] = []
  for (const rule of recording) {
    const depth = depthOf(rule)
    levels[depth] = [...(levels[depth] ?? []), rule]
  }
  return levels
}
