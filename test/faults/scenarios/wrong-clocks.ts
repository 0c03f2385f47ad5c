import { Type } from '../../../api/shared/contract/schema.ts'
import { type Database, rowType, sql } from '../../../api/shared/database/database.ts'
import { wrongClock } from '../../support/clock.ts'
import { reasonWithout } from '../../support/missing.ts'
import { countFailed, countRepeated } from '../support/moments.ts'
import { nothingTried, type Scenario } from '../support/scenario.ts'

const HOUR = 3600
const DAY = 24 * HOUR
const Id = rowType(Type.Object({ id: Type.String() }))

export const wrongClocks: Scenario<{ jobs: number; clocks: number }> = {
  id: 'R12',
  what: 'the clock of one machine is wrong by an hour or a day',
  quick: { jobs: 5, clocks: 2 },
  full: { jobs: 50, clocks: 4 },
  run: async ({ platform, size, random }) => {
    const missing = await reasonWithout('faketime')
    if (missing) return nothingTried(missing)
    const offsets = [-DAY, HOUR, DAY, -HOUR].slice(0, size.clocks)
    const accepted: string[] = []
    const violations: string[] = []
    await Promise.all(
      offsets.map(async (offset) => {
        const env = wrongClock(offset) ?? {}
        const [replica, workers] = await Promise.all([platform.startReplica(env), platform.startWorkers(1, env)])
        const shop = await platform.openShop({ credits: 2 * size.jobs, at: replica })
        for (let job = 0; job < size.jobs; job++) {
          await shop.order({ imageMs: random.between(0, 200), deadlineSeconds: 60 })
        }
        // One that lasts longer than a lease.
        await shop.order({ imageMs: 8000, deadlineSeconds: 60 })
        await platform.settle()
        accepted.push(...shop.accepted)
        const refused = shop.orders.length - shop.accepted.length
        if (refused > 0) violations.push(`${refused} orders were refused with the clock off by ${offset} s`)
        violations.push(...(await findWrongTimes(platform.database, shop.accountId)))
        await Promise.all([replica.stop(), workers.stop()])
      }),
    )
    const { database } = platform
    const failed = await countFailed(database, accepted)
    const repeated = await countRepeated(database, accepted)
    if (failed + repeated > 0) violations.push(`${failed} jobs failed and ${repeated} were run again`)
    return { accepted, injected: { clocks: offsets.length }, measured: { failed, repeated }, violations }
  },
}

async function findWrongTimes(database: Database, accountId: string): Promise<string[]> {
  const negative = await database.any(sql.type(Id)`
    select id from generations
    where account_id = ${accountId}
      and (started_at < created_at or finished_at < started_at or updated_at < created_at or deadline_at < created_at)`)
  // Kept for seven days, by the clock of the database.
  const wrong = await database.any(sql.type(Id)`
    select id from images
    where account_id = ${accountId} and expires_at not between now() + interval '6 days 23 hours' and now() + interval '7 days'
    union
    select key as id from objects
    where account_id = ${accountId} and kind <> 'product'
      and expires_at not between now() + interval '6 days 23 hours' and now() + interval '7 days'`)
  return [
    ...negative.map(({ id }) => `${id} has a negative duration`),
    ...wrong.map(({ id }) => `${id} expires at a wrong time`),
  ]
}
