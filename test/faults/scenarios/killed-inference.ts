import { setTimeout as sleep } from 'node:timers/promises'
import type { TestProgram } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { keepBusy } from '../support/busy.ts'
import { inferenceOf, signal } from '../support/inference.ts'
import { countFailed, countRepeated } from '../support/moments.ts'
import type { Scenario } from '../support/scenario.ts'

const WORK_SECONDS = 4

export const killedInference: Scenario<{ kills: number; hangs: number }> = {
  id: 'R14',
  what: 'inference processes are killed or hang with a job in hand',
  quick: { kills: 1, hangs: 1 },
  full: { kills: 90, hangs: 10 },
  run: async ({ platform, size, random }) => {
    const shop = await platform.openShop({ credits: 10 * (size.kills + size.hangs) + 10 })
    const workers = await platform.startWorkers(3, { WORK_SECONDS: String(WORK_SECONDS) })
    const faults = [...Array<string>(size.kills).fill('kill'), ...Array<string>(size.hangs).fill('hang')]
    for (const fault of faults) {
      const [{ worker }] = await keepBusy({ platform, shop, workers, imageMs: () => random.between(500, 900) })
      const pids = inferenceOf(worker)
      // Frozen before its job arrives, so that it is running the job.
      for (const pid of pids) signal(pid, 'SIGSTOP')
      await sleep(1000)
      if (fault === 'kill') for (const pid of pids) signal(pid, 'SIGKILL')
      await platform.settle()
      for (const pid of pids) signal(pid, 'SIGCONT')
      await until(async () =>
        (await Promise.all(workers.members.map(failedChecks))).every(({ length }) => length === 0),
      )
    }
    const violations = await crashThrice(workers.members[0])
    await shop.order()
    await platform.settle()
    await workers.stop()
    const failed = await countFailed(platform.database, shop.accepted)
    return {
      accepted: shop.accepted,
      injected: { kills: size.kills + 3, hangs: size.hangs },
      measured: { repeated: await countRepeated(platform.database, shop.accepted), failed },
      violations: failed > 0 ? [...violations, `${failed} jobs failed`] : violations,
    }
  },
}

/** After 3 consecutive crashes the worker must report that it is not ready, and later that it is ready again. */
async function crashThrice(worker: TestProgram): Promise<string[]> {
  let last = 0
  for (let crash = 0; crash < 3; crash++) {
    const pid = await until(() => inferenceOf(worker).find((other) => other !== last))
    last = pid
    // A starting process dies, as without memory.
    signal(pid, 'SIGKILL')
  }
  await until(async () => inferenceOf(worker).find((other) => other !== last))
  const unready = await failedChecks(worker)
  await until(async () => (await failedChecks(worker)).length === 0)
  return unready.includes('inference') ? [] : ['a worker was ready after three crashes in a row']
}

async function failedChecks({ probeUrl }: TestProgram): Promise<string[]> {
  const response = await fetch(`${probeUrl}/readyz`)
  const { failed = {} } = (await response.json()) as { failed?: Record<string, string> }
  return Object.keys(failed)
}
