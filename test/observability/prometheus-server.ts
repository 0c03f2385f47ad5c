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

/** A real Prometheus that scrapes processes every second. */
export interface PrometheusServer {
  /** From now on, scrapes these processes, by name. */
  watch(targets: Readonly<Record<string, Pick<TestProgram, 'probeUrl'>>>): Promise<void>
  /** Trace IDs that it stores as exemplars of the series that a query names. */
  findExemplars(expr: string): Promise<readonly string[]>
  /** Results of a query since the start of the server. Throws the error of Prometheus for an invalid query. */
  query(expr: string): Promise<readonly Series[]>
  rules(): Promise<readonly RuleState[]>
  end(): Promise<unknown>
}

/** Starts `program` with the texts of rule files. All scraped metrics get this namespace. */
export async function startPrometheus(
  program: string,
  { rules, namespace }: { rules: readonly string[]; namespace: string },
): Promise<PrometheusServer> {
  const { path: folder } = await requestService('folder', null)
  const port = await reserveFreePort()
  await mkdir(join(folder, 'rules'))
  await Promise.all(rules.map((text, i) => writeFile(join(folder, 'rules', `${i}.yaml`), text)))
  await writeFile(join(folder, 'prometheus.json'), JSON.stringify(CONFIGURATION))
  await port.release()
  const address = `127.0.0.1:${port.port}`
  const exemplars = '--enable-feature=exemplar-storage'
  const files = [`--config.file=${folder}/prometheus.json`, `--storage.tsdb.path=${join(folder, 'data')}`]
  const server = await spawnProcess({
    command: program,
    args: [exemplars, ...files, `--web.listen-address=${address}`],
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
    query: async (query) => {
      const range = { start: String(startedAt), end: String(Date.now() / 1000), step: '1' }
      return (await ask<{ result: Series[] }>('query_range', { query, ...range })).result
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
