import type { Condition, ConditionStatus } from '../runtime/conditions.ts'
import type { Happening } from '../runtime/events.ts'

/** Conditions whose changes are events, and the status that is a warning. */
const ALARMING: Readonly<Record<string, ConditionStatus>> = {
  AboveCap: 'True',
  WorkersScheduled: 'False',
  WorkersCreated: 'False',
  WorkersHealthy: 'False',
}

/** The events of conditions that changed. One that is fine from the first is none. */
export function eventsOfChanges(before: readonly Condition[], after: readonly Condition[]): Happening[] {
  return after.flatMap(({ type, status, reason, message }) => {
    const alarming = ALARMING[type]
    const wasAlarming = before.find((condition) => condition.type === type)?.status === alarming
    if (alarming === undefined || (status === alarming) === wasAlarming) return []
    return [{ type: wasAlarming ? 'Normal' : 'Warning', reason, message }]
  })
}
