import { splitList } from '../../api/shared/process/config.ts'

/** What an engine's self-test must prove before a worker accepts jobs. */
export interface Conformance {
  /** Max relative distance between the drawing and the golden drawing of the export. */
  readonly tolerance: number
  /** Whether to reject an export without a golden drawing. */
  readonly goldenRequired: boolean
}

/** 16-bit kernels on different devices differ by a tenth of this tolerance, other weights by all of it. */
export const DEFAULT_CONFORMANCE: Conformance = { tolerance: 0.02, goldenRequired: false }

/** `name=percent` of one or more engines. */
export const TOLERANCES = '^$|^[a-z0-9-]+=([1-9]|1[0-9]|20)(,[a-z0-9-]+=([1-9]|1[0-9]|20))*$'

/** Conformance of each engine, from `SELF_TEST_TOLERANCE` (format: `TOLERANCES`) and `SELF_TEST_GOLDEN` (engine names). */
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
      tolerance: percent === undefined ? DEFAULT_CONFORMANCE.tolerance : Number(percent) / 100,
      goldenRequired: required.has(engine),
    }
  }
}
