import { writeFile } from 'node:fs/promises'
import { applyErasures } from '../../api/erasure/apply-erasures.ts'
import { createErasureLog, type ErasureEntry, presentEntry } from '../../api/erasure/erasure-log.ts'
import { parseJsonOrNull } from '../../api/shared/contract/json-or-null.ts'
import { compileCheck, Type } from '../../api/shared/contract/schema.ts'
import type { Database } from '../../api/shared/database/database.ts'
import { createGenerations } from '../../api/shared/generations/generations.store.ts'
import { createRetention } from '../../api/shared/retention/retention.store.ts'
import type { ObjectStorage } from '../../api/shared/storage/object.ts'
import type { DatabaseCommand } from './command.ts'
import { mandatory, option, readGiven, required, requireWritable, UsageError } from './options.ts'
import { warn } from './output.ts'
import { withStorage } from './storage.ts'

export const erasureCommands: Readonly<Record<string, DatabaseCommand>> = {
  'erasures apply': {
    summary: 'repeat erasures after a restore: erase all data older than its entry in the erasure log',
    options: [option('--file <file|->', 'a copy of the log, - for standard input; default: the log of the storage')],
    effect: 'changes',
    inDatabase: (database, { file }) => withStorage((storage) => apply(database, { storage, file })),
  },
  'erasures export': {
    summary: 'export the erasure log as JSON lines, to store with the backup',
    options: [mandatory('--file <file|->', 'output file, - for standard output')],
    effect: 'changes',
    inDatabase: (_, { file }) =>
      withStorage(async (storage) => {
        const path = required(file, 'file')
        if (path !== '-') await requireWritable(path)
        const lines = (await readAll(createErasureLog(storage).read())).map((entry) => `${presentEntry(entry)}\n`)
        if (path !== '-') {
          await writeFile(path, lines.join(''), { mode: 0o600 })
          return { entries: lines.length }
        }
        process.stdout.write(lines.join(''))
        console.error(`entries  ${lines.length}`)
        return undefined
      }),
  },
}

/** A lost log, or another storage, looks like a log without erasures. */
const EMPTY_LOG = 'the erasure log is empty: check STORAGE_URL, or apply a copy of the log with --file'

async function apply(
  database: Database,
  { storage, file }: { storage: ObjectStorage; file: string | undefined },
): Promise<Record<string, unknown>> {
  const entries = await readAll(file === undefined ? createErasureLog(storage).read() : readLines(file))
  if (entries.length === 0) warn(EMPTY_LOG)
  // Jobs of cancelled generations are no-ops: the queue is refilled from the database.
  const queue = { remove: async () => {} }
  const parts = {
    retention: createRetention(database),
    generations: createGenerations(database),
    storage,
    queue,
    prepareQueue: queue,
  }
  const erased = await applyErasures(entries, parts)
  return { entries: entries.length, erased }
}

async function readAll(entries: AsyncIterable<ErasureEntry>): Promise<ErasureEntry[]> {
  const all: ErasureEntry[] = []
  for await (const entry of entries) all.push(entry)
  return all
}

const checkLine = compileCheck(
  Type.Object({ erasedAt: Type.String(), customer: Type.String({ pattern: '^[0-9a-f]{64}$' }) }),
)

async function* readLines(path: string): AsyncGenerator<ErasureEntry> {
  for (const [i, line] of String(await readGiven(path))
    .split('\n')
    .entries()) {
    if (line.trim() !== '') yield readLine(line, `${path}, line ${i + 1}`)
  }
}

function readLine(line: string, place: string): ErasureEntry {
  const checked = checkLine(parseJsonOrNull(line))
  const erasedAt = checked.ok ? new Date(checked.value.erasedAt) : null
  if (!checked.ok || erasedAt === null || Number.isNaN(erasedAt.getTime()))
    throw new UsageError(`${place} is not an entry of the log`)
  return { customer: checked.value.customer, erasedAt }
}
