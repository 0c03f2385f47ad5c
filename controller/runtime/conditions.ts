export type ConditionStatus = 'True' | 'False' | 'Unknown'

/** One aspect of an object's state, as it is found out now. */
export interface Finding {
  readonly type: string
  readonly status: ConditionStatus
  /** One word in CamelCase, for programs. */
  readonly reason: string
  /** For people. */
  readonly message: string
}

/** A finding as objects carry it. */
export interface Condition extends Finding {
  readonly observedGeneration: number
  /** When `status` last changed, not when it was last looked at. */
  readonly lastTransitionTime: string
}

const MAX_MESSAGE_LENGTH = 1024

/** How far an object is from what it should be; `Stalled` when it does not get there by itself. */
export type Progress = 'Settled' | 'Reconciling' | 'Stalled'

const NOT_IN_PROGRESS = {
  Reconciling: 'No change is under way.',
  Stalled: 'No problem needs a change of the spec.',
} as const

/** The conditions `Reconciling` and `Stalled`, which tools that wait for an object read beside `Ready`. */
export function progressFindings(progress: Progress, reason: string, message: string): Finding[] {
  return (['Reconciling', 'Stalled'] as const).map((type) => {
    const holds = type === progress
    return { type, status: holds ? 'True' : 'False', reason, message: holds ? message : NOT_IN_PROGRESS[type] }
  })
}

/** The conditions of an object after what was found at `now`, sorted by type. Those that are not among the findings are gone. */
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

/** The text cut to `maxBytes`, which is how the API server counts. */
export function shorten(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  return bytes.length <= maxBytes
    ? text
    : bytes
        .subarray(0, maxBytes)
        .toString()
        .replace(/\uFFFD$/, '')
}

/** As the API writes a time: the server drops what is finer. */
export function wholeSeconds(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`
}
