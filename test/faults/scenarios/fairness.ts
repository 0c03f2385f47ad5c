import { Type } from '../../../api/shared/contract/schema.ts'
import { type Database, rowType, sql } from '../../../api/shared/database/database.ts'
import { until } from '../../support/until.ts'
import type { Scenario } from '../support/scenario.ts'

const Times = rowType(Type.Object({ waited: Type.Number(), job: Type.Number() }))
const JOB_MS = 700

export const fairness: Scenario<{ backlog: number; singles: number; jobTimes: number }> = {
  id: 'FAIR',
  what: 'thousands of jobs of one account wait and another account orders one',
  quick: { backlog: 300, singles: 3, jobTimes: 5 },
  full: { backlog: 5000, singles: 20, jobTimes: 3 },
  run: async ({ platform, size }) => {
    const big = await platform.openShop({ credits: size.backlog })
    for (let batch = 0; batch < size.backlog / 50; batch++) {
      await Promise.all(Array.from({ length: 50 }, () => big.order({ imageMs: JOB_MS })))
    }
    const workers = await platform.startWorkers(2)
    const waits: number[] = []
    for (let single = 0; single < size.singles; single++) {
      const small = await platform.openShop({ credits: 1 })
      const { generationId } = await small.order({ imageMs: JOB_MS })
      const { waited, job } = await untilStarted(platform.database, String(generationId))
      waits.push(waited / job)
    }
    // The rest of the backlog is not needed.
    await platform.database.query(sql.unsafe`
      update generations set deadline_at = now() where account_id = ${big.accountId} and status = 'PENDING'`)
    await platform.settle()
    await workers.stop()
    const longest = Math.max(...waits)
    return {
      accepted: big.accepted,
      injected: { backlog: size.backlog, singles: size.singles },
      measured: { 'longest wait in job times': longest },
      violations: longest > size.jobTimes ? [`a single job waited for ${longest} job times`] : [],
    }
  },
}

/** Seconds that it waited, and duration of the jobs before it. */
async function untilStarted(database: Database, generationId: string) {
  return until(() =>
    database.maybeOne(sql.type(Times)`
      select extract(epoch from started_at - created_at)::float8 as waited, (
          select avg(extract(epoch from finished_at - started_at))::float8 from (
            select started_at, finished_at from generations where status = 'COMPLETED' order by finished_at desc limit 10
          ) as recent) as job
      from generations where id = ${generationId} and status = 'COMPLETED'`),
  )
}
