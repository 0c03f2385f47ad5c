import type { Hold, HoldingPolicy } from '../../api/shared/retention/legal-holds.store.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import { readYaml } from '../runtime/yaml.ts'
import { type RetentionPolicy, retentionPolicies } from './resource.ts'
import { findScheduleProblem } from './schedule.ts'

/**
 * Parses the RetentionPolicies of a YAML text; ignores other kinds. Throws an Error that describes the first invalid policy, and for a text
 * without policies: an empty or wrong file would end all legal holds.
 */
export function readPolicies(text: string): RetentionPolicy[] {
  const { kind } = retentionPolicies.type
  const documents = readYaml(text).filter((document) => (document as { kind?: string }).kind === kind)
  if (documents.length === 0) throw new Error(`no document has kind: ${kind}`)
  return documents.map((document) => {
    const read = retentionPolicies.read({ metadata: {}, ...(document as object) })
    const problem = 'problems' in read ? read.problems : findScheduleProblem(read.object.spec)?.message
    if ('problems' in read || problem !== undefined) throw new Error(`Invalid RetentionPolicy: ${problem}`)
    return read.object
  })
}

/** The holds of a policy; `null` if they cannot be parsed. An error elsewhere in the policy does not end its holds. */
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
