import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../runtime/client.ts'
import { eventsOfChanges } from '../runtime/condition-events.ts'
import { conditionsAfter, type Finding, progressFindings } from '../runtime/conditions.ts'
import type { RecordEvent } from '../runtime/events.ts'
import type { ReportInvalid } from '../runtime/invalid-object.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import { countsFor } from './counts-for.ts'
import type { BudgetGauges } from './gauges.ts'
import { type CostBudget, costBudgets } from './resource.ts'

interface CostlyPool extends KubernetesObject {
  readonly spec?: { readonly engines?: readonly string[] }
  readonly status?: { readonly hourlyCost?: number }
}

/** Records the total cost of a budget's pools in its status. The pools themselves enforce the cap. */
export function createBudgetReconcile({
  client,
  record,
  reportInvalid,
  costBudgets: budgets,
  pools,
  gauges,
  now,
}: {
  client: Client
  record: RecordEvent
  reportInvalid: ReportInvalid
  costBudgets: Pick<Watched<KubernetesObject>, 'get'>
  pools: Pick<Watched<CostlyPool>, 'list'>
  gauges: Pick<BudgetGauges, 'note' | 'forget'>
  now: () => Date
}) {
  return async (key: string) => {
    const found = budgets.get(key)
    gauges.forget(key)
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined
    const read = costBudgets.read(found)
    if ('problems' in read) return void (await reportInvalid(costBudgets.type, found, read.problems))
    const { metadata, spec, status } = read.object
    const { namespace, name, generation } = metadata
    const counted = pools.list().filter((pool) => countsFor(read.object, pool))
    const sum = counted.reduce((cost, pool) => cost + (pool.status?.hourlyCost ?? 0), 0)
    const hourlyCost = Math.round(sum * 10_000) / 10_000
    gauges.note(key, { hourlyCost, hourlyCap: spec.hourlyCap })
    const next = {
      observedGeneration: generation,
      pools: counted.length,
      hourlyCost,
      conditions: conditionsAfter(status?.conditions ?? [], findingsOf(read.object, hourlyCost, counted.length), {
        generation,
        now: now(),
      }),
    }
    if (isDeepStrictEqual(next, status)) return undefined
    for (const event of eventsOfChanges(status?.conditions ?? [], next.conditions)) await record(read.object, event)
    await client.apply(costBudgets.type, { metadata: { namespace, name }, status: next }, { subresource: 'status' })
    return undefined
  }
}

function findingsOf({ spec: { hourlyCap } }: CostBudget, hourlyCost: number, pools: number): Finding[] {
  const used = pools > 0 ? 'InUse' : 'NotInUse'
  const counting = `${pools} pools count.`
  const cost = `The workers cost ${hourlyCost} per hour; the cap is ${hourlyCap}.`
  const above: Finding =
    hourlyCost > hourlyCap
      ? { type: 'AboveCap', status: 'True', reason: 'AboveCap', message: cost }
      : { type: 'AboveCap', status: 'False', reason: 'WithinCap', message: cost }
  return [
    { type: 'Ready', status: 'True', reason: used, message: counting },
    above,
    ...progressFindings('Settled', used, counting),
  ]
}
