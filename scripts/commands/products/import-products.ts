import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { appendFile, rm, stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, createConnection } from '../../../api/client/connection.ts'
import type { ProductBatch } from '../../../api/client/schemas.ts'
import { type CatalogFormat, readEntries } from '../../../api/products/entries.ts'
import type { CatalogEntry } from '../../../api/products/entry.ts'
import type { DrapeError } from '../../../api/shared/contract/errors.ts'
import { requireWritable, UsageError } from '../options.ts'
import { createImportState, type ImportState } from './import-state.ts'
import { createProgress } from './progress.ts'

const FORMATS: Readonly<Record<string, CatalogFormat>> = {
  '.csv': 'csv',
  '.json': 'json',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
}
const MAX_ITEMS = 500
/** Max characters of a batch in JSON; the service accepts 10 MB. */
const MAX_CHARACTERS = 3 * 1024 * 1024
const POLL_MS = 2000
const PATH = ['products', 'batch']

export interface ImportOptions {
  readonly path: string
  readonly url: string
  readonly apiKey: string
  readonly report?: string | undefined
  readonly waitsForImages: boolean
}

/**
 * Imports the products of a file in batches. After an interruption each batch keeps its Idempotency-Key, so that the next call
 * continues without duplicates. Returns the counts; the report contains the `failed` products and images.
 */
export async function importProducts(options: ImportOptions): Promise<Record<string, unknown>> {
  const { path, url, report = `${path}.failures.ndjson` } = options
  const format = FORMATS[extname(path).toLowerCase()]
  if (format === undefined) throw new UsageError(`${path} must end in ${Object.keys(FORMATS).join(', ')}`)
  const { size, mtimeMs } = await stat(path).catch(() => {
    throw new UsageError(`${path} cannot be read`)
  })
  const states = createImportState(`${path}.import`)
  const state = await states.load(`${url} ${size} ${mtimeMs}`)
  await Promise.all([report, `${path}.import`].map(requireWritable))
  if (state.batchIds.length === 0) await rm(report, { force: true })
  const connection = createConnection({ url, apiKey: options.apiKey, retries: 8 })
  const progress = createProgress(process.stderr)
  const counts = { products: 0, created: 0, updated: 0, unchanged: 0, failed: 0 }
  const fail = async (failures: readonly Failure[]) => {
    if (failures.length > 0)
      await appendFile(report, failures.map((failure) => `${JSON.stringify(failure)}\n`).join(''))
  }

  let read = 0
  const bytes = async function* () {
    for await (const chunk of createReadStream(path)) {
      read += chunk.length
      yield chunk
    }
  }
  let number = 0
  for await (const entries of groupEntries(readEntries(format, bytes()))) {
    counts.products += entries.length
    if (number >= state.batchIds.length) {
      const { batch, failures } = await sendBatch(entries, { connection, key: `import-${state.id}-${number}` })
      await fail(failures)
      state.failed += failures.length
      state.batchIds.push(batch?.batchId ?? '')
      await states.save(state)
      for (const name of ['created', 'updated', 'unchanged'] as const) counts[name] += batch?.counts[name] ?? 0
    }
    number++
    progress.show(size === 0 ? 1 : read / size, `${counts.products} products, ${state.failed} failed`)
  }
  if (options.waitsForImages) state.failed += await waitForImages(state, { connection, fail, progress })
  counts.failed = state.failed
  progress.end(`${counts.products} products, ${counts.failed} failed${counts.failed > 0 ? `: see ${report}` : ''}`)
  await states.delete()
  return { ...counts, report: counts.failed > 0 ? report : null }
}

interface Failure {
  /** Line in the file. */
  readonly line: number
  readonly externalId: string | null
  readonly error: {
    readonly code: string
    readonly message?: string
    readonly url?: string
    readonly details?: unknown
  }
}

async function* groupEntries(entries: AsyncIterable<CatalogEntry>): AsyncGenerator<CatalogEntry[]> {
  let group: CatalogEntry[] = []
  let characters = 0
  for await (const entry of entries) {
    const length = 'product' in entry ? JSON.stringify(entry.product).length : 0
    if (group.length === MAX_ITEMS || (group.length > 0 && characters + length > MAX_CHARACTERS)) {
      yield group
      group = []
      characters = 0
    }
    group.push(entry)
    characters += length
  }
  if (group.length > 0) yield group
}

/** Does not send invalid entries. */
async function sendBatch(
  entries: readonly CatalogEntry[],
  { connection, key }: { connection: Connection; key: string },
): Promise<{ batch: ProductBatch | null; failures: Failure[] }> {
  const unreadable = entries.flatMap((entry): Failure[] =>
    'problem' in entry ? [{ line: entry.line, externalId: null, error: describeProblem(entry.problem) }] : [],
  )
  const valid = entries.filter((entry) => 'product' in entry)
  if (valid.length === 0) return { batch: null, failures: unreadable }
  const products = valid.map(({ product }) => product)
  const hash = createHash('sha256').update(JSON.stringify(products)).digest('hex').slice(0, 16)
  const batch = await connection.call<ProductBatch>({
    method: 'POST',
    path: PATH,
    body: { products },
    idempotencyKey: `${key}-${hash}`,
  })
  const refused = batch.items.flatMap(({ index, externalId, error }): Failure[] =>
    error ? [{ line: valid[index].line, externalId, error }] : [],
  )
  return { batch, failures: [...unreadable, ...refused].sort((a, b) => a.line - b.line) }
}

function describeProblem({ code, message, details }: DrapeError): Failure['error'] {
  return { code, message, ...(details && { details }) }
}

/** Polls until the images of all batches are fetched. Returns the number of failed images. */
async function waitForImages(
  { batchIds }: ImportState,
  {
    connection,
    fail,
    progress,
  }: {
    connection: Connection
    fail: (failures: readonly Failure[]) => Promise<void>
    progress: ReturnType<typeof createProgress>
  },
): Promise<number> {
  const sent = batchIds.filter((id) => id !== '')
  let failed = 0
  for (const [i, id] of sent.entries()) {
    for (;;) {
      const batch = await connection.call<ProductBatch>({
        method: 'GET',
        path: [...PATH, id],
        query: { limit: MAX_ITEMS },
      })
      const { total, pending } = batch.images
      const share = total === 0 ? 1 : (total - pending) / total
      progress.show((i + share) / sent.length, `images of batch ${i + 1} of ${sent.length}`)
      if (batch.status === 'completed') {
        const failures = batch.items.flatMap(({ line, externalId, images }) =>
          images.failures.map((error): Failure => ({ line, externalId, error })),
        )
        await fail(failures)
        failed += failures.length
        break
      }
      await sleep(POLL_MS)
    }
  }
  return failed
}
