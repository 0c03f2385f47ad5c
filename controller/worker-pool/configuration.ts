import { type Engine, engines as engineResource } from '../engine/resource.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import { type ScalingPolicy, type ScalingRules, scalingPolicies } from '../scaling-policy/resource.ts'
import type { WorkerPool } from './resource.ts'
import { unknownZoneOf } from './scaling/schedule.ts'

type Objects = Pick<Watched<KubernetesObject>, 'get'>

/** The rules that determine the size of a pool, or why there are none. */
export type Rules = { readonly rules: ScalingRules } | { readonly missing: string } | { readonly fixed: number }

/** The engines of a pool, or why they are not usable yet. */
export type Engines = { readonly list: readonly Engine[] } | { readonly missing: string }

export function findRules({ spec, metadata }: WorkerPool, policies: Objects): Rules {
  const { mode, policy, policyRef } = spec.scaling
  if (mode !== 'Auto') return { fixed: spec.replicas ?? 1 }
  if (policy) return knownZones(policy)
  const named = policyRef && policies.get(`${metadata.namespace}/${policyRef.name}`)
  if (!named) return { missing: `The ScalingPolicy ${policyRef?.name} does not exist.` }
  const read = scalingPolicies.read(named)
  return 'problems' in read ? { missing: read.problems } : knownZones((read.object as ScalingPolicy).spec)
}

export function findEngines({ spec, metadata }: WorkerPool, engines: Objects): Engines {
  const list: Engine[] = []
  for (const name of spec.engines) {
    const found = engines.get(`${metadata.namespace}/${name}`)
    if (!found) return { missing: `The Engine ${name} does not exist.` }
    const read = engineResource.read(found)
    if ('problems' in read) return { missing: `Engine ${name}: ${read.problems}` }
    const ready = read.object.status?.conditions.find(({ type }) => type === 'Ready')
    if (ready?.status !== 'True')
      return { missing: `Engine ${name} is not ready: ${ready?.message ?? 'not reconciled yet'}` }
    list.push(read.object)
  }
  return { list }
}

/** End of the active pause; null if the pool is not paused. */
export function pausedAt({ spec }: WorkerPool, now: Date): string | null {
  return spec.paused && Date.parse(spec.paused.until) > now.getTime() ? spec.paused.until : null
}

function knownZones(rules: ScalingRules): { rules: ScalingRules } | { missing: string } {
  const unknown = unknownZoneOf(rules)
  return unknown === null ? { rules } : { missing: unknown }
}
