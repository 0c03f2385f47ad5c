import type { Condition, ConditionStatus } from './conditions.ts'
import type { Happening } from './events.ts'

/** Conditions whose changes are recorded as events: the status that is recorded even if it is the first, and the type of the event. */
const NOTABLE: Readonly<Record<string, { status: ConditionStatus; type: Happening['type'] }>> = {
  AboveCap: { status: 'True', type: 'Warning' },
  WorkersScheduled: { status: 'False', type: 'Warning' },
  WorkersCreated: { status: 'False', type: 'Warning' },
  WorkersAdmitted: { status: 'False', type: 'Normal' },
  WorkersHealthy: { status: 'False', type: 'Warning' },
  WorkersUpdated: { status: 'False', type: 'Normal' },
}

/** Returns the events of changed conditions. A condition that is healthy from the start causes none. */
export function eventsOfChanges(before: readonly Condition[], after: readonly Condition[]): Happening[] {
  return after.flatMap(({ type, status, reason, message }) => {
    const notable = NOTABLE[type]
    if (notable === undefined) return []
    const wasNotable = before.find((condition) => condition.type === type)?.status === notable.status
    if ((status === notable.status) === wasNotable) return []
    return [{ type: wasNotable ? 'Normal' : notable.type, reason, message }]
  })
}
