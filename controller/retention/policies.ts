import type { Hold } from '../../api/shared/stores/due-objects.ts'
import { readYaml } from '../runtime/yaml.ts'
import { type RetentionPolicy, retentionPolicies } from './resource.ts'
import { findScheduleProblem } from './schedule.ts'

/** The RetentionPolicies in a YAML text; other kinds are left out. Throws an Error that tells what is wrong with one. */
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

/** What these objects say has to be kept. One that cannot be read holds nothing, and is told of where it is reconciled. */
export function findHolds(objects: readonly unknown[]): Hold[] {
  return objects.flatMap((object) => {
    const read = retentionPolicies.read(object)
    return 'problems' in read ? [] : read.object.spec.legalHold
  })
}
