import type { Hold, HoldingPolicy } from '../../api/shared/stores/legal-holds.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import { readYaml } from '../runtime/yaml.ts'
import { type RetentionPolicy, retentionPolicies } from './resource.ts'
import { findScheduleProblem } from './schedule.ts'

/** The RetentionPolicies in a YAML text; other kinds are left out. Throws an Error that says what is wrong with one. */
export function readPolicies(text: string): RetentionPolicy[] {
  return readYaml(text)
    .filter((document) => (document as { kind?: string }).kind === retentionPolicies.type.kind)
    .map((document) => {
      const read = retentionPolicies.read({ metadata: {}, ...(document as object) })
      const problem = 'problems' in read ? read.problems : findScheduleProblem(read.object.spec)?.message
      if ('problems' in read || problem !== undefined) throw new Error(`A RetentionPolicy is not valid: ${problem}`)
      return read.object
    })
}

/** The holds of a policy; `null` when they cannot be read. A fault elsewhere in the policy does not end its holds. */
export function holdsOf(object: unknown): HoldingPolicy {
  const { metadata, spec } = object as Partial<KubernetesObject> & { spec?: { legalHold?: unknown } }
  const { namespace, name = '' } = metadata ?? {}
  const legalHold = spec === undefined ? null : (spec?.legalHold ?? [])
  const holds = Array.isArray(legalHold) && legalHold.every(isHold) ? legalHold : null
  return { name: namespace === undefined ? name : `${namespace}/${name}`, holds }
}

function isHold(hold: unknown): hold is Hold {
  const { accountId, externalUserId } = (hold ?? {}) as { accountId?: unknown; externalUserId?: unknown }
  const isId = (id: unknown) => typeof id === 'string' && id !== ''
  return isId(accountId) && (externalUserId === undefined || isId(externalUserId))
}
