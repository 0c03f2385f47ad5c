import { Readable } from 'node:stream'
import { csvLine } from '../../http/answers/csv.ts'
import { attachment } from '../../shared/storage/attachment.ts'
import type { DashboardContext } from '../state.ts'

type Rows = Iterable<readonly string[]> | AsyncIterable<readonly string[]>

/** Sends lines as a file; the first one has the names of the columns. Formulas are neutralised. */
export function sendCsv(ctx: DashboardContext, name: string, rows: Rows): void {
  ctx.type = 'text/csv; charset=utf-8'
  ctx.set('Content-Disposition', attachment(`${name}.csv`))
  ctx.body = Readable.from(linesOf(rows))
}

async function* linesOf(rows: Rows): AsyncGenerator<string> {
  for await (const row of rows) yield csvLine(row)
}

const PAGE = 1000

/** All entries of a list, page by page. `list` gets the last entry of the previous page. */
export async function* allOf<T>(list: (last: T | null, limit: number) => Promise<readonly T[]>): AsyncGenerator<T> {
  for (let last: T | null = null; ; ) {
    const page = await list(last, PAGE)
    yield* page
    if (page.length < PAGE) return
    last = page.at(-1) ?? null
  }
}
