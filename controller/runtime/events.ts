import { createHash } from 'node:crypto'
import { createCache } from '../../api/shared/process/cache.ts'
import { activeTraceIds, withPartSpan } from '../../api/shared/telemetry/telemetry.ts'
import type { Client } from './client.ts'
import { wholeSeconds } from './conditions.ts'
import type { KubernetesObject, ResourceType } from './resource.ts'

const EVENTS: ResourceType = { group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true }

export interface Happening {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

export function warning(reason: string, message: string): Happening {
  return { type: 'Warning', reason, message }
}

/** Records an event about an object, for `kubectl describe`. Never throws. */
export type RecordEvent = (object: KubernetesObject, happening: Happening) => Promise<void>

/** The trace in which an event was recorded, if tracing is enabled. */
const TRACE_ID = 'drape.dev/trace-id'
/** Equal events within this interval are counted in one write. */
const QUIET_MS = 60_000
const REMEMBERED = 1000
/** Max length of the object's name in the name of an event. */
const MAX_NAME_LENGTH = 236

/** Creates a recorder that aggregates equal events in the name of `component`. */
export function createEventRecorder({
  client,
  component,
  instance,
  onFault = () => {},
}: {
  client: Client
  component: string
  instance: string
  onFault?: (error: unknown) => void
}): RecordEvent {
  const written = createCache<{ count: number; firstTimestamp: string; writtenAt: number }>({ max: REMEMBERED })
  return async (object, happening) => {
    const { namespace = 'default', name, uid = '' } = object.metadata
    const id = createHash('sha256').update(`${uid} ${instance} ${happening.reason} ${happening.message}`).digest('hex')
    const earlier = written.get(id)
    const count = (earlier?.count ?? 0) + 1
    const quiet = earlier !== undefined && performance.now() - earlier.writtenAt < QUIET_MS
    const now = wholeSeconds(new Date())
    const firstTimestamp = earlier?.firstTimestamp ?? now
    written.set(id, { count, firstTimestamp, writtenAt: quiet ? earlier.writtenAt : performance.now() })
    if (quiet) return
    const eventName = `${name.slice(0, MAX_NAME_LENGTH).replace(/[^a-z0-9]+$/, '')}.${id.slice(0, 16)}`
    const event = {
      involvedObject: { apiVersion: object.apiVersion, kind: object.kind, namespace, name, uid },
      ...happening,
      source: { component },
      reportingComponent: component,
      reportingInstance: instance,
      count,
      firstTimestamp,
      lastTimestamp: now,
    }
    await withPartSpan(`event ${happening.reason}`, {}, async () => {
      const { trace_id: traceId } = activeTraceIds()
      const annotations = traceId === undefined ? undefined : { [TRACE_ID]: traceId }
      await client.apply(EVENTS, { ...event, metadata: { namespace, name: eventName, annotations } })
    }).catch(onFault)
  }
}
