import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { spawnProcess, type TestProgram } from '../support/process.ts'
import { requestService } from '../support/request-service.ts'
import { until } from '../support/until.ts'

export interface Series {
  readonly metric: Readonly<Record<string, string>>
  readonly values: readonly (readonly [time: number, value: string])[]
}

export interface RuleState {
  readonly name: string
  readonly health: string
  readonly lastError?: string
}

/** A range of a query, in seconds of Unix time. */
export interface Range {
  readonly start: number
  readonly end: number
  readonly step: number
}

/** A real Prometheus that scrapes processes every second. */
export interface PrometheusServer {
  readonly url: string
  /** From now on, scrapes these processes, by name. */
  watch(targets: Readonly<Record<string, Pick<TestProgram, 'probeUrl'>>>): Promise<void>
  /** Trace IDs that it stores as exemplars of the series that a query names. */
  findExemplars(expr: string): Promise<readonly string[]>
  /** Results of a query, by default since the start of the server. Throws the error of Prometheus for an invalid query. */
  query(expr: string, range?: Range): Promise<readonly Series[]>
  /** The type of each scraped metric, such as counter. */
  types(): Promise<ReadonlyMap<string, string>>
  rules(): Promise<readonly RuleState[]>
  end(): Promise<unknown>
}

/**
 * Starts `program` with the texts of rule files. All scraped metrics get this namespace. `data` is a folder with recorded blocks;
 * default: an empty one.
 */
export async function startPrometheus(
  program: string,
  { rules, namespace, data }: { rules: readonly string[]; namespace: string; data?: string },
): Promise<PrometheusServer> {
  const { path: folder } = await requestService('folder', null)
  const port = await reserveFreePort()
  await mkdir(join(folder, 'rules'))
  await Promise.all(rules.map((text, i) => writeFile(join(folder, 'rules', `${i}.yaml`), text)))
  await writeFile(join(folder, 'prometheus.json'), JSON.stringify(CONFIGURATION))
  await port.release()
  const address = `127.0.0.1:${port.port}`
  const exemplars = '--enable-feature=exemplar-storage'
  const files = [`--config.file=${folder}/prometheus.json`, `--storage.tsdb.path=${data ?? join(folder, 'data')}`]
  // Blocks of 2 hours are not merged while tests query them.
  const blocks = ['min', 'max'].map((bound) => `--storage.tsdb.${bound}-block-duration=2h`)
  const server = await spawnProcess({
    command: program,
    args: [exemplars, ...files, ...blocks, `--web.listen-address=${address}`],
    cwd: folder,
    env: {},
  })
  const url = `http://${address}`
  await until(() =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  const startedAt = Date.now() / 1000

  const ask = async <T>(path: string, parameters: Record<string, string> = {}): Promise<T> => {
    const answer = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`)
    const { data, error } = (await answer.json()) as { data: T; error?: string }
    if (error !== undefined) throw new Error(error)
    return data
  }
  return {
    watch: async (targets) => {
      const groups = Object.entries(targets).map(([pod, { probeUrl }]) => ({
        targets: [new URL(probeUrl).host],
        labels: { namespace, pod },
      }))
      await writeFile(join(folder, 'targets.new'), JSON.stringify(groups))
      await rename(join(folder, 'targets.new'), join(folder, 'targets.json'))
    },
    url,
    query: async (query, { start, end, step } = { start: startedAt, end: Date.now() / 1000, step: 1 }) => {
      const range = { start: String(start), end: String(end), step: String(step) }
      return (await ask<{ result: Series[] }>('query_range', { query, ...range })).result
    },
    types: async () => {
      const found = await ask<Record<string, readonly { type: string }[]>>('metadata')
      return new Map(Object.entries(found).map(([name, [{ type }]]) => [name, type]))
    },
    findExemplars: async (query) => {
      const [start, end] = [String(startedAt), String(Date.now() / 1000)]
      const found = await ask<{ exemplars: { labels: Record<string, string> }[] }[]>('query_exemplars', {
        query,
        start,
        end,
      })
      return found.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels.trace_id))
    },
    rules: async () => {
      const { groups } = await ask<{ groups: { rules: RuleState[] }[] }>('rules')
      return groups.flatMap((group) => group.rules)
    },
    end: () => server.end('SIGKILL'),
  }
}

const CONFIGURATION = {
  global: { scrape_interval: '1s', evaluation_interval: '1s' },
  storage: { exemplars: { max_exemplars: 10_000 } },
  rule_files: ['rules/*.yaml'],
  scrape_configs: [{ job_name: 'drape', file_sd_configs: [{ files: ['targets.json'], refresh_interval: '1s' }] }],
}
