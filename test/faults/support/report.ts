import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { alignColumns } from '../../../scripts/benchmarks/table.ts'
import type { Findings, Size } from './scenario.ts'

export interface Entry extends Findings {
  readonly id: string
  readonly what: string
  readonly seed: number
  readonly size: Size
  readonly seconds: number
  readonly violations: readonly string[]
}

const PATH = resolve(import.meta.dirname, '../../../.cache/faults/report.json')

/** Writes faults and results as JSON, and returns them as a table. */
export async function writeReport(entries: readonly Entry[]): Promise<string> {
  await mkdir(dirname(PATH), { recursive: true })
  await writeFile(PATH, JSON.stringify(entries, null, 2))
  const rows = entries.map((entry) => [
    entry.id,
    String(entry.seed),
    entry.seconds.toFixed(0),
    String(entry.accepted.length),
    entry.skipped ?? listed(entry.injected),
    listed(entry.measured ?? {}),
    entry.skipped ? 'skipped' : entry.violations.length === 0 ? 'held' : `${entry.violations.length} violations`,
  ])
  return alignColumns([['id', 'seed', 's', 'jobs', 'injected', 'measured', 'found'], ...rows])
}

function listed(counts: Size): string {
  const texts = Object.entries(counts).map(([name, count]) => `${name} ${Math.round(count * 100) / 100}`)
  return texts.join(', ') || '–'
}
