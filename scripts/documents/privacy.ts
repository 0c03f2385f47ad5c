import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

// Writes the data map at the end of docs/privacy.md: the tables from the comments in the migrations, object storage and Redis from below.
// Usage: node scripts/documents/privacy.ts

const ROOT = resolve(import.meta.dirname, '../..')

/** Why personal data is stored, until when, and what erases it earlier. */
interface Purpose {
  readonly purpose: string
  readonly lifetime: string
  /** Request that deletes the data. */
  readonly erasure: string
}

/** A store outside of the database, identified by the prefix of its keys. */
export interface PlaceMap {
  /** Stored data. */
  readonly content: string
  /** Null for a place without personal data. */
  readonly about: Purpose | null
}

const ERASE = '`DELETE /tryon/v1/customers/{id}`'

/** Prefixes of keys in the object storage. */
export const STORAGE_PREFIXES: Readonly<Record<string, PlaceMap>> = {
  'persons/': {
    content: 'photos of persons, their cropped views and masks, without metadata of the camera',
    about: { purpose: 'the input of a try-on', lifetime: 'that of the table `images`', erasure: ERASE },
  },
  'results/': {
    content: 'results of try-ons and their masks',
    about: {
      purpose: 'the output of a try-on',
      lifetime:
        'the lifetime of the photo, unless the call (`keepForDays`) or the account (`--result-days`) sets another',
      erasure: ERASE,
    },
  },
  'uploads/': {
    content: 'uploaded bytes that are not a photo yet',
    about: {
      purpose: 'the upload of a shopper',
      lifetime: 'until the upload is complete, at most 30 minutes after the link was created',
      erasure: ERASE,
    },
  },
  'held/': {
    content: 'images of erased end users under a legal hold',
    about: {
      purpose: 'a legal obligation to keep them',
      lifetime: 'until the hold ends',
      erasure: 'not while the hold lasts; no request reads them',
    },
  },
  'erasures/': {
    content: 'the erasure log: a hash of each erased end user, with the time',
    about: {
      purpose: 'repeats erasures after a backup is restored',
      lifetime: 'no end; keep it longer than the oldest backup',
      erasure: 'none',
    },
  },
  'products/': {
    content: 'product photos',
    about: {
      purpose: 'the garment of a try-on; can show a model',
      lifetime: 'the lifetime of the product',
      erasure: '`DELETE /tryon/v1/products/{externalId}`',
    },
  },
  'logos/': { content: 'logos of accounts', about: null },
  '.incomplete/': {
    content: 'files that are being written (`file:` storages only)',
    about: {
      purpose: 'readers never see a partial file',
      lifetime:
        'less than a second; of a crashed process until the next comparison with the database, a day later at the earliest',
      erasure: 'none before that',
    },
  },
}

const ADDRESS = 'network address or its keyed hash'

/** Families of keys in Redis. All of it can be lost: it is restored from the database, or has no personal data. */
export const REDIS_FAMILIES: Readonly<Record<string, PlaceMap>> = {
  'bull:': {
    content: 'jobs of workers: IDs of the generation or of the photo',
    about: {
      purpose: 'hands jobs to workers',
      lifetime: 'until the job ends',
      erasure: `${ERASE} removes jobs that no worker has started, and stops the others. The streams \`bull:…:events\` keep the IDs of try-ons and hashes of the IDs of photos`,
    },
  },
  'drape:rate:': {
    content: `counts of requests by shopper, account, e-mail address of an operator, ${ADDRESS}`,
    about: { purpose: 'limits', lifetime: '1 minute to 1 day, by the limit', erasure: 'not needed' },
  },
  'drape:bucket:': { content: 'levels of the limits of an account', about: null },
  'drape:refused:': {
    content: 'the last 20 refused requests of a shop, with the network address',
    about: {
      purpose: 'explains why requests of a shop were refused',
      lifetime: '24 hours',
      erasure: 'not needed',
    },
  },
  'drape:worker-calls': {
    content: 'calls of workers: IDs, hashes of images',
    about: {
      purpose: 'records the work of workers',
      lifetime: 'until an API takes it',
      erasure: 'not needed',
    },
  },
  'drape:try-on-queues': { content: 'names of queues', about: null },
  'drape:workers:': { content: 'workers and their engines', about: null },
  'drape:engines': { content: 'what engines can do', about: null },
}

/** A table of the database. */
interface Table {
  /** Null for a table without personal data. */
  readonly about: Purpose | null
  /** Columns with personal data, with what it is. */
  readonly personal: Readonly<Record<string, string>>
}

const COMMENT = /^comment on (?:table|column) (?<table>\w+)(?:\.(?<column>\w+))? is '(?<text>(?:[^']|'')*)';$/gm

/** All tables in the order of the migrations. Throws on a comment on a table that does not say why, how long and what erases. */
export function readTables(): Record<string, Table> {
  const files = globSync('api/shared/migrations/*.sql', { cwd: ROOT }).sort()
  const text = files.map((file) => readFileSync(resolve(ROOT, file), 'utf8')).join('\n')
  const comments = [...text.matchAll(COMMENT)].map(({ groups }) => ({
    table: groups?.table,
    column: groups?.column,
    text: (groups?.text ?? '').replaceAll("''", "'"),
  }))
  const names = [...text.matchAll(/^create table (\w+) \(/gm)].map(([, name]) => name)
  return Object.fromEntries(
    names.map((name) => {
      const own = comments.filter(({ table }) => table === name)
      const about = own.find(({ column }) => column === undefined)
      const personal = own.flatMap(({ column, text }) => (column === undefined ? [] : [[column, text]]))
      return [name, { about: about ? readPurpose(name, about.text) : null, personal: Object.fromEntries(personal) }]
    }),
  )
}

function readPurpose(table: string, text: string): Purpose {
  const [, purpose, lifetime, erasure] = /^(.+)\nlifetime: (.+)\nerased by: (.+)$/.exec(text) ?? []
  if (erasure === undefined)
    throw new Error(`The comment on ${table} needs three lines: why, "lifetime: …" and "erased by: …"`)
  return { purpose, lifetime, erasure }
}

/** The data map of docs/privacy.md, as Markdown. */
export function describeDataMap(): string {
  return [
    `### Database\n\n${describeTables(readTables())}`,
    `### Object storage\n\n${describePlaces('Prefix', STORAGE_PREFIXES)}`,
    `### Redis\n\n${describePlaces('Keys', REDIS_FAMILIES)}`,
  ].join('\n\n')
}

function describeTables(tables: Readonly<Record<string, Table>>): string {
  const rows = Object.entries(tables).flatMap(([name, { about, personal }]) =>
    about === null ? [] : [[`\`${name}\``, columnsOf(personal), about.purpose, about.lifetime, about.erasure]],
  )
  return tableOf(['Table', 'Personal data', 'Purpose', 'Lifetime', 'Erased by'], rows)
}

function columnsOf(personal: Table['personal']): string {
  return Object.entries(personal)
    .map(([column, content]) => `\`${column}\`: ${content}`)
    .join('; ')
}

function describePlaces(kind: string, places: Readonly<Record<string, PlaceMap>>): string {
  const rows = Object.entries(places).flatMap(([key, { content, about }]) =>
    about === null ? [] : [[`\`${key}\``, content, about.purpose, about.lifetime, about.erasure]],
  )
  return tableOf([kind, 'Content', 'Purpose', 'Lifetime', 'Erased by'], rows)
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => `| ${row.join(' | ')} |`)
  return lines.toSpliced(1, 0, `|${'---|'.repeat(head.length)}`).join('\n')
}

if (import.meta.main) {
  const page = resolve(ROOT, 'docs/privacy.md')
  const [text] = readFileSync(page, 'utf8').split('\n### Database\n')
  writeFileSync(page, `${text}\n${describeDataMap()}\n`)
}
