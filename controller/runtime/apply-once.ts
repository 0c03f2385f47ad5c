import { isDeepStrictEqual } from 'node:util'
import type { Client, Sent } from './client.ts'
import { type KubernetesObject, keyOf, type ResourceType } from './resource.ts'

/** Applies an object unless it is known to be so already. Resolves to whether there was a write. */
export type ApplyOnce = (type: ResourceType, object: Sent, live: KubernetesObject | undefined) => Promise<boolean>

/**
 * Remembers what it applied and which generation the server gave it: while both are the same nobody has changed the object, and
 * nothing is sent. After a start each object is sent once, which changes nothing where nothing differs.
 */
export function createApplyOnce(client: Client): ApplyOnce {
  const applied = new Map<string, { object: Sent; uid?: string; generation?: number }>()
  return async (type, object, live) => {
    const key = `${type.plural} ${keyOf(object.metadata)}`
    const last = applied.get(key)
    const unchanged = live && last?.uid === live.metadata.uid && last?.generation === live.metadata.generation
    if (unchanged && isDeepStrictEqual(last?.object, object)) return false
    const { metadata } = await client.apply<KubernetesObject>(type, object)
    applied.set(key, { object, uid: metadata.uid, generation: metadata.generation })
    return true
  }
}
