export type ConditionStatus = 'True' | 'False' | 'Unknown'

/** The current state of one aspect of an object. */
export interface Finding {
  readonly type: string
  readonly status: ConditionStatus
  /** Machine-readable reason in CamelCase. */
  readonly reason: string
  /** Human-readable message. */
  readonly message: string
}

/** A finding as stored in the status. */
export interface Condition extends Finding {
  readonly observedGeneration: number
  /** Time of the last change of `status`, not of the last check. */
  readonly lastTransitionTime: string
}

const MAX_MESSAGE_LENGTH = 1024

/** Progress of an object towards its spec; `Stalled` if it needs a change to make progress. */
export type Progress = 'Settled' | 'Reconciling' | 'Stalled'

const NOT_IN_PROGRESS = {
  Reconciling: 'No change is under way.',
  Stalled: 'No problem needs a change of the spec.',
} as const

/** The conditions `Reconciling` and `Stalled`, which tools that wait for an object read in addition to `Ready`. */
export function progressFindings(progress: Progress, reason: string, message: string): Finding[] {
  return (['Reconciling', 'Stalled'] as const).map((type) => {
    const holds = type === progress
    return { type, status: holds ? 'True' : 'False', reason, message: holds ? message : NOT_IN_PROGRESS[type] }
  })
}

/** Merges the findings at `now` into the conditions of an object, sorted by type. Drops conditions without a finding. */
export function conditionsAfter(
  before: readonly Condition[],
  findings: readonly Finding[],
  { generation, now }: { generation: number; now: Date },
): Condition[] {
  const known = new Map(before.map((condition) => [condition.type, condition]))
  return findings
    .map(({ type, status, reason, message }) => {
      const earlier = known.get(type)
      const changed = earlier?.status !== status
      return {
        type,
        status,
        reason,
        message: shorten(message, MAX_MESSAGE_LENGTH),
        observedGeneration: generation,
        lastTransitionTime: changed || !earlier ? wholeSeconds(now) : earlier.lastTransitionTime,
      }
    })
    .sort((a, b) => (a.type < b.type ? -1 : 1))
}

/** Truncates the text to `maxBytes`; the API server counts bytes. */
export function shorten(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  return bytes.length <= maxBytes
    ? text
    : bytes
        .subarray(0, maxBytes)
        .toString()
        .replace(/\uFFFD$/, '')
}

/** Formats a time as the API does: the server drops fractions of a second. */
export function wholeSeconds(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`
}
