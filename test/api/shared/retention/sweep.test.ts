import { beforeEach, describe, expect, it } from 'vitest'
import { sql } from '../../../../api/shared/database/database.ts'
import { sweep } from '../../../../api/shared/retention/erase.ts'
import { createRetention } from '../../../../api/shared/retention/retention.store.ts'
import { DeletionRefused, type ObjectStorage } from '../../../../api/shared/storage/object.ts'
import { createCaller } from '../../../support/accepted.ts'
import { openTestDatabase } from '../../../support/postgres.ts'

describe('a sweep of a storage that refuses deletions', async () => {
  const { database } = await openTestDatabase({ poolSize: 3 })
  const accountId = (await createCaller(database, 1)).accountId
  beforeEach(() => database.query(sql.unsafe`delete from objects`))

  const nameOf = (i: number) => `persons/p-${String(i).padStart(5, '0')}.jpg`
  /** Expired objects, the oldest first. */
  const insertDue = (count: number) => {
    const keys = Array.from({ length: count }, (_, i) => nameOf(i))
    return database.query(sql.unsafe`
      insert into objects (key, account_id, kind, bytes, expires_at)
      select key, ${accountId}, 'person', 2, now() - interval '2 hours' + place * interval '1 second'
      from unnest(${sql.array(keys, 'text')}) with ordinality as listed (key, place)`)
  }
  /** Deletes everything but these objects. Returns the count of keys that the storage was asked to delete, too. */
  const sweepExcept = async (isLocked: (key: string) => boolean) => {
    let asked = 0
    const storage = {
      delete: async (keys: readonly string[]) => {
        asked += keys.length
        const refused = keys.filter(isLocked)
        if (refused.length > 0) throw new DeletionRefused(refused, new Error('locked'))
      },
    } as Pick<ObjectStorage, 'delete'> as ObjectStorage
    const swept = await sweep({ retention: createRetention(database), storage })
    return { ...swept, asked }
  }

  it('deletes younger objects in the same sweep when the oldest 1,700 are refused', async () => {
    await insertDue(2300)
    const swept = await sweepExcept((key) => key < nameOf(1700) || key === nameOf(2000))
    expect(swept).toMatchObject({ objects: 599, bytes: 1198, refusedObjects: 1701 })
    expect(await database.oneFirst(sql.unsafe`select count(*)::int from objects`)).toBe(1701)
  })

  it('stops when the oldest and the youngest objects are all refused', async () => {
    await insertDue(3000)
    expect(await sweepExcept(() => true)).toMatchObject({ objects: 0, refusedObjects: 1500, asked: 1510 })
  })
})
