import type { LifeObject } from '../../../api/generations/generation-life.store.ts'
import { withStorage } from '../storage.ts'

/** Whether the images of a generation exist, in the database and in the storage. */
export async function examineObjects(objects: readonly LifeObject[]) {
  return withStorage((storage) =>
    Promise.all(
      objects.map(async ({ role, key, isKnown, expiresAt }) => ({
        object: role,
        state: describeState({ isKnown, hasBytes: key !== null && (await storage.exists(key)) }),
        expiresAt,
      })),
    ),
  )
}

function describeState({ isKnown, hasBytes }: { isKnown: boolean; hasBytes: boolean }): string {
  if (isKnown) return hasBytes ? 'present' : 'missing: the database has the object, the storage does not'
  return hasBytes ? 'deleted from the database, but not yet from the storage' : 'deleted'
}
