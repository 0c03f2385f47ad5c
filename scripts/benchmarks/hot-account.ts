import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { type Bench, LIMITS } from './bench.ts'
import type { Benchmark } from './benchmark.ts'
import { measureThroughput } from './load.ts'
import { alternate } from './rounds.ts'
import { EXTERNAL_ID, insertSample } from './sample-data.ts'
import { bySize } from './size.ts'

const ACCOUNTS = bySize({ smallest: 5, usual: 200 })

export const hotAccount: Benchmark = {
  id: 'P16',
  what: `POST /try-on of one account against ${ACCOUNTS} accounts in turn`,
  unit: 'answers/s',
  better: 'higher',
  goal: 3.5,
  measure: async (bench) => {
    const { api } = await bench.servers()
    const callers = await insertCallers(bench)
    const measure = (among: readonly Caller[]) => {
      let turn = 0
      return measureThroughput({
        url: api,
        method: 'POST',
        path: '/tryon/v1/try-on',
        headers: () => among[turn % among.length].headers,
        body: () => among[turn++ % among.length].body,
      })
    }
    return alternate({
      ours: () => measure(callers.slice(0, 1)),
      anchor: () => measure(callers),
      better: 'higher',
    })
  },
}

interface Caller {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

async function insertCallers({ database }: Bench): Promise<Caller[]> {
  const callers: Caller[] = []
  for (let i = 0; i < ACCOUNTS; i++) {
    const account = await createAccounts(database).insert({
      name: `Bench ${i}`,
      email: null,
      credits: 1_000_000,
      settings: LIMITS,
    })
    const { imageId } = await insertSample({ database, accountId: account.id })
    const body = { products: [{ externalId: EXTERNAL_ID }], person: { image: { source: { id: imageId } } } }
    callers.push({
      headers: { 'content-type': 'application/json', 'x-api-key': account.apiKey },
      body: JSON.stringify(body),
    })
  }
  return callers
}
