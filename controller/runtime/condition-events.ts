import type { Condition, ConditionStatus } from './conditions.ts'
import type { Happening } from './events.ts'

/** The status of a condition that is recorded even if it is the first, and the type of the event. */
export interface Notable {
  readonly status: ConditionStatus
  readonly type: Happening['type']
}

/** Returns the events of changed conditions, of those in `notables`. A condition that is healthy from the start causes none. */
export function eventsOfChanges(
  before: readonly Condition[],
  after: readonly Condition[],
  notables: Readonly<Record<string, Notable>>,
): Happening[] {
  return after.flatMap(({ type, status, reason, message }) => {
    const notable = notables[type]
    if (notable === undefined) return []
    const wasNotable = before.find((condition) => condition.type === type)?.status === notable.status
    if ((status === notable.status) === wasNotable) return []
    return [{ type: wasNotable ? 'Normal' : notable.type, reason, message }]
  })
}
