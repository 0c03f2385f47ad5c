import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '../../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../../api/shared/database/database.ts'
import type { TestProgram } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { inferenceOf, signal } from '../support/inference.ts'
import { type Attempt, findInHand, nameOf } from '../support/moments.ts'
import type { Platform } from '../support/platform.ts'
import type { Scenario } from '../support/scenario.ts'

const Ending = rowType(Type.Object({ status: Type.String(), attempt: Type.Integer(), workers: Type.Integer() }))

/** Long enough to freeze the process before it runs the job. */
const IMAGE_MS = 2000
/** Time from the arrival of the images until the job runs, in ms. A process that is killed earlier loses no job. */
const HANDING_MS = 2500

export const poison: Scenario<{ poisonous: number; harmless: number }> = {
  id: 'R14b',
  what: 'a job kills every process that takes it',
  quick: { poisonous: 1, harmless: 20 },
  full: { poisonous: 10, harmless: 400 },
  run: async ({ platform, size }) => {
    const shop = await platform.openShop({ credits: size.poisonous + size.harmless })
    const workers = await platform.startWorkers(3)
    const violations: string[] = []
    for (let job = 0; job < size.poisonous; job++) {
      const { generationId } = await shop.order({ imageMs: IMAGE_MS })
      const frozen = new Set<number>()
      const freeze = (worker: TestProgram) => {
        for (const pid of inferenceOf(worker)) {
          signal(pid, 'SIGSTOP')
          frozen.add(pid)
        }
      }
      for (let attempt = 1; attempt <= 3; attempt++) {
        const worker = await until(() => findHolder(platform, workers.members, { id: String(generationId), attempt }))
        freeze(worker)
        // Time for the image to arrive, so that the job runs.
        await sleep(IMAGE_MS + HANDING_MS)
        // The next attempt has all images immediately: its worker must hang too.
        for (const other of workers.members) if (other !== worker) freeze(other)
        for (const pid of inferenceOf(worker)) signal(pid, 'SIGKILL')
      }
      for (const pid of frozen) signal(pid, 'SIGCONT')
      await Promise.all(Array.from({ length: size.harmless / size.poisonous }, () => shop.order({ imageMs: 50 })))
      await platform.settle()
      const end = await platform.database.one(sql.type(Ending)`
        select generations.status, generations.attempt, count(distinct history.worker) as workers
        from generations join history on generation_id = generations.id and history.status = 'PROCESSING'
        where generations.id = ${generationId} group by generations.id`)
      if (end.status !== 'FAILED' || end.attempt !== 3 || end.workers !== 3)
        violations.push(`it ended ${end.status} in attempt ${end.attempt} after ${end.workers} workers`)
    }
    await workers.stop()
    return { accepted: shop.accepted, injected: { kills: 3 * size.poisonous }, violations }
  },
}

/** The worker that runs this attempt. */
async function findHolder(
  { database }: Platform,
  members: readonly TestProgram[],
  { id, attempt }: Attempt,
): Promise<TestProgram | undefined> {
  const inHand = await findInHand(database)
  return members.find((member) => {
    const held = inHand.get(nameOf(member))
    return held?.id === id && held.attempt === attempt
  })
}
