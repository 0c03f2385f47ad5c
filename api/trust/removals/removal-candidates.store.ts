import { DrapeError } from '../../shared/contract/errors.ts'
import { type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../../shared/database/database.ts'
import { toBits } from '../../shared/image/image-hashes.store.ts'
import { isHeld, lockHolds } from '../../shared/retention/legal-holds.store.ts'

/** Different bits, of 256, up to which an image counts as a copy. Measured: see docs/removal.md. */
const MAX_DISTANCE = 60
/** Max candidates at a time, because operators decide on each. With more, the request is open again after the erasure: see `assign`. */
const MAX_CANDIDATES = 24

const CandidateRow = Type.Object({
  /** ID of the photo; of the generation where no photo is known. Names all images that are erased together. */
  id: Type.String(),
  accountId: Type.String(),
  /** The most similar image. */
  key: Type.String(),
  kind: Type.String(),
  distance: Type.Integer(),
  createdAt: Timestamp,
})
export type Candidate = Static<typeof CandidateRow>

const AccountRow = rowType(Type.Object({ accountId: Type.String(), held: Type.Boolean() }))

/** The end user in whose name the images of a request are erased. */
export function removalCustomer(requestId: string): string {
  return `removal:${requestId}`
}

export type RemovalCandidates = ReturnType<typeof createRemovalCandidates>

/** Stored images that may be copies of the image of a request. */
export function createRemovalCandidates(database: Database) {
  return {
    /** Photos with everything made from them, and results without a photo, that are similar to one of the hashes; most similar first. `isCut`: there are more. */
    find: async (hashes: readonly string[]): Promise<{ found: readonly Candidate[]; isCut: boolean }> => {
      const near = await database.any(sql.type(rowType(CandidateRow))`
        with near as (
          select object_key, min(bit_count(hash # ${toBits(sql.fragment`asked`)})) as distance
          from image_hashes cross join unnest(${sql.array([...hashes], 'text')}) as request (asked)
          where bit_count(hash # ${toBits(sql.fragment`asked`)}) <= ${MAX_DISTANCE}
          group by object_key
        ), found as (
          select coalesce(images.id, generations.image_id, generations.id) as id, objects.account_id, objects.key,
            objects.kind, near.distance, objects.created_at
          from near join objects on objects.key = near.object_key
          left join images on images.account_id = objects.account_id
            and images.id = substring(objects.key from '/([^/]+?)(?:-view)?\\.\\w+$')
          left join generations on generations.id = objects.generation_id
          where (objects.expires_at is null or objects.expires_at > now()) and not starts_with(objects.key, 'held/')
        ), nearest as (
          select distinct on (id, account_id) * from found where id is not null order by id, account_id, distance, key
        )
        select id, account_id as "accountId", key, kind, distance::int as distance, created_at as "createdAt"
        from nearest order by distance, id limit ${MAX_CANDIDATES + 1}`)
      return { found: near.slice(0, MAX_CANDIDATES), isCut: near.length > MAX_CANDIDATES }
    },

    /**
     * Assigns images to the request, so that their erasure finds them: photos with their views and results. MUST be called in the
     * transaction that records the decision. False when the request was decided before.
     * A request with more candidates keeps its hashes, and is open again when these images are erased.
     * @throws DrapeError VALIDATION_FAILED when a legal hold keeps one of them, or none exists any more
     */
    assign: async (requestId: string, ids: readonly string[], { isCut = false } = {}): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        update removal_requests set state = 'ERASING', decided_at = now_ms(), check_at = now(),
          hashes = case when ${isCut} then hashes else '{}' end
        where id = ${requestId} and state = 'OPEN'`)
      if (rowCount === 0) return false
      await database.query(lockHolds)
      const named = sql.array([...ids], 'text')
      const owner = removalCustomer(requestId)
      // Waits for acceptances that use one of these photos; expired, it is used by no later one.
      await database.query(sql.unsafe`select from images where id = any(${named}) order by id for update`)
      const keys = sql.fragment`(
        select object_key from images where id = any(${named})
        union all select regexp_replace(object_key, '\\.\\w+$', '-view.jpg') from images where id = any(${named})
        union all select key from objects where generation_id in (
          select id from generations where image_id = any(${named}) or id = any(${named})))`
      const accounts = await database.any(sql.type(AccountRow)`
        select account_id as "accountId", bool_or(${isHeld}) as held from objects where key in ${keys} group by account_id`)
      if (accounts.some(({ held }) => held))
        throw refused('A legal hold keeps one of these images. It can be erased when the hold has ended.')
      if (accounts.length === 0)
        throw refused('The images were erased or have expired in the meantime. Decline the request with this reason.')
      await database.query(sql.unsafe`update objects set external_user_id = ${owner} where key in ${keys}`)
      await database.query(sql.unsafe`
        update images set external_user_id = ${owner}, expires_at = least(expires_at, now_ms()) where id = any(${named})`)
      await database.query(sql.unsafe`
        update generations set external_user_id = ${owner} where image_id = any(${named}) or id = any(${named})`)
      await database.query(sql.unsafe`
        insert into removal_erasures (request_id, account_id)
        select ${requestId}, account_id from unnest(${sql.array(
          accounts.map(({ accountId }) => accountId),
          'text',
        )}) as listed (account_id)
        on conflict (request_id, account_id) do update set erasure_id = null`)
      return true
    },
  }
}

function refused(message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', message)
}
