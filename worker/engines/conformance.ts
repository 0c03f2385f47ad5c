import { splitList } from '../../api/shared/config.ts'

/** What an engine's self-test has to show before a worker takes jobs. */
export interface Conformance {
  /** How far its drawing may be from the golden one that its export has noted, as a share of that one's length. */
  readonly tolerance: number
  /** Whether an export that has noted no golden drawing is refused. */
  readonly goldenRequired: boolean
}

/** 16-bit kernels of different devices differ by a tenth of it, other weights by all of it. */
export const USUAL: Conformance = { tolerance: 0.02, goldenRequired: false }

/** `name=percent` of one or more engines. */
export const TOLERANCES = '^$|^[a-z0-9-]+=([1-9]|1[0-9]|20)(,[a-z0-9-]+=([1-9]|1[0-9]|20))*$'

/** What is asked of each engine, from `SELF_TEST_TOLERANCE` (as `TOLERANCES` has it) and `SELF_TEST_GOLDEN` (names of engines). */
export function readConformance({
  SELF_TEST_TOLERANCE = '',
  SELF_TEST_GOLDEN = '',
}: {
  readonly SELF_TEST_TOLERANCE?: string
  readonly SELF_TEST_GOLDEN?: string
}): (engine: string) => Conformance {
  const tolerances = new Map(splitList(SELF_TEST_TOLERANCE).map((each) => each.split('=') as [string, string]))
  const required = new Set(splitList(SELF_TEST_GOLDEN))
  return (engine) => {
    const percent = tolerances.get(engine)
    return {
      tolerance: percent === undefined ? USUAL.tolerance : Number(percent) / 100,
      goldenRequired: required.has(engine),
    }
  }
}
