import { v7 as uuidv7 } from 'uuid'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import type { Acceptance } from '../../api/generations/acceptance.store.ts'
import { type Database, sql } from '../../api/shared/database/database.ts'
import { EXTERNAL_ID, insertPhoto, PRODUCT_IMAGES } from '../../scripts/benchmarks/sample-data.ts'

export interface Caller {
  readonly accountId: string
  readonly imageId: string
}

/** An account with credits and one photo of a person. */
export async function createCaller(database: Database, credits: number): Promise<Caller> {
  const { id: accountId } = await createAccounts(database).insert({ name: 'Test', email: null, credits })
  const imageId = await insertPhoto(database, { accountId, expiresInHours: 1 })
  return { accountId, imageId }
}

/** Inserts a copy of a generation with other values in these columns, which an ended generation does not accept. Returns its ID. */
export async function copyGeneration(
  database: Database,
  id: string,
  changes: Readonly<Record<string, unknown>>,
): Promise<string> {
  const copyId = `gen_${uuidv7()}`
  await database.query(sql.unsafe`
    insert into generations select (jsonb_populate_record(generations, ${JSON.stringify({ ...changes, id: copyId })}::jsonb)).*
    from generations where id = ${id}`)
  return copyId
}

/** A valid call of this caller: an inline product with one image, the default engine. */
export function callOf({ accountId, imageId }: Caller, changes: Partial<Acceptance> = {}): Acceptance {
  return {
    generationId: `gen_${uuidv7()}`,
    accountId,
    externalUserId: null,
    imageId,
    product: {
      id: uuidv7(),
      externalId: EXTERNAL_ID,
      anonymous: false,
      images: PRODUCT_IMAGES,
    },
    engine: 'warp',
    garmentTypes: ['flat_lay', 'ghost_mannequin'],
    cost: 1,
    options: { watermark: true, seed: 1, mode: 'balanced', format: 'jpeg', fullResolution: false },
    deadlineSeconds: 300,
    keepForDays: null,
    ...changes,
  }
}
