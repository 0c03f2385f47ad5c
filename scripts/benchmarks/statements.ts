import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Bench } from './bench.ts'
import type { Benchmark } from './benchmark.ts'
import { measureThroughput } from './load.ts'
import { EXTERNAL_ID, insertSample } from './sample-data.ts'

export const statementsPerGeneration: Benchmark = {
  id: 'C1',
  what: 'SQL statements of the API and its relay for each accepted generation',
  unit: 'statements',
  better: 'lower',
  goal: 0.3,
  measure: async (bench) => {
    const { imageId } = await insertSample(bench)
    const { api } = await bench.servers()
    const body = JSON.stringify({
      products: [{ externalId: EXTERNAL_ID }],
      person: { image: { source: { id: imageId } } },
    })
    const headers = { 'content-type': 'application/json', 'x-api-key': bench.apiKey }
    bench.defer(() => logStatements(bench, 'none'))
    await logStatements(bench, 'all')
    const [statements, generations] = [await countStatements(bench), await countGenerations(bench)]
    await measureThroughput({ url: api, method: 'POST', path: '/tryon/v1/try-on', headers, body })
    const made = (await countGenerations(bench)) - generations
    const run = (await countStatements(bench)) - statements
    return { ours: run / made, anchor: 1 }
  },
}

/** Applies to new and to existing sessions. */
async function logStatements({ databaseUrl }: Bench, which: 'all' | 'none'): Promise<void> {
  await query(databaseUrl, `alter system set log_statement = '${which}'`)
  await query(databaseUrl, 'select pg_reload_conf()')
  // The server reloads its settings asynchronously.
  await query(databaseUrl, 'select pg_sleep(0.5)')
}

async function countGenerations({ databaseUrl }: Bench): Promise<number> {
  const [{ count }] = await query(databaseUrl, 'select count(*)::int as count from generations')
  return count
}

/** Counts statements in the server's log: one line per statement, prepared or not. */
async function countStatements({ logFolder }: Bench): Promise<number> {
  const text = await readFile(join(logFolder, 'postgres.log'), 'utf8')
  return text.match(/LOG: {2}(?:execute [^:]+|statement):/g)?.length ?? 0
}

async function query(databaseUrl: string, statement: string): Promise<{ count: number }[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
