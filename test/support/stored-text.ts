import { existsSync, readdirSync } from 'node:fs'
import pg from 'pg'
import { findCommand, isExecutable, run } from '../../scripts/stack/commands.ts'

/**
 * The output of `pg_dump` for a database, with every value as text. Without a `pg_dump` of the server's version, which must not be older
 * than the server, every row of every table.
 */
export async function readDump(databaseUrl: string): Promise<string> {
  const program = await findPgDump(databaseUrl)
  if (program === null) return readStoredText(databaseUrl)
  return run(program, ['--inserts', '--dbname', databaseUrl])
}

const DEBIAN = '/usr/lib/postgresql'

async function findPgDump(databaseUrl: string): Promise<string | null> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ major: number }>(
    "select current_setting('server_version_num')::int / 10000 as major",
  )
  await client.end()
  const onPath = findCommand(['pg_dump'])
  const installed = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => `${DEBIAN}/${version}/bin/pg_dump`) : []
  for (const program of [...installed.filter(isExecutable), ...(onPath === undefined ? [] : [onPath])]) {
    const version = /\) (\d+)/.exec(await run(program, ['--version']).catch(() => ''))?.[1]
    if (Number(version) >= rows[0].major) return program
  }
  return null
}

/** Every row of every table of a database as text, as in a dump. */
export async function readStoredText(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    )
    const texts: string[] = []
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string }>(`select row::text as text from ${name} as row`)
      texts.push(...rows.map(({ text }) => `${name} ${text}`))
    }
    return texts.join('\n')
  } finally {
    await client.end()
  }
}
