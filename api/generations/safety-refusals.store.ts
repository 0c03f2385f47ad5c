import {
  SAFETY_CHECKS,
  type SafetyAllowance,
  type SafetyCheck,
  TRY_ON_IMAGES,
  type TryOnImage,
} from '../shared/contract/errors.ts'
import { Nullable, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../shared/database/database.ts'
import type { HashedPair } from '../shared/generations/worker-calls.ts'
import type { ImageHashes } from '../shared/image/image-hash.ts'
import { toBits } from '../shared/image/image-hashes.store.ts'

/** Different bits, of 256, up to which an image counts as a blocked one. The threshold that the authors of PDQ recommend. */
const MAX_DISTANCE = 31

/** Different bits up to which another encoding of an image counts as the allowed one: JPEG of quality 50 differs by 8 at most. */
const MAX_ALLOWED_DISTANCE = 8

const AllowanceRow = rowType(
  Type.Object({ check: Type.Enum([...SAFETY_CHECKS]), image: Nullable(Type.Enum([...TRY_ON_IMAGES])) }),
)
const ImageRow = rowType(Type.Object({ image: Nullable(Type.Enum([...TRY_ON_IMAGES])) }))

/** The workers' store of refusals, allowances and blocks. */
export function createSafetyRefusals(database: Database) {
  return {
    /** Records why an attempt is about to be refused, unless the attempt is over. Needs a hash of both images. */
    insert: async ({ id, attempt, check, image, pair }: Refusal): Promise<void> => {
      const [person, product] = [hexList(pair.person), hexList(pair.product)]
      await database.query(sql.unsafe`
        insert into safety_refusals (generation_id, account_id, failed_check, image, person_hashes, product_hashes, image_digests)
        select id, account_id, ${check}, ${image}, ${person}, ${product}, ${digestsOf(pair)} from generations
        where id = ${id} and attempt = ${attempt} and status = 'PROCESSING' for share
        on conflict (generation_id) do update set failed_check = excluded.failed_check, image = excluded.image`)
    },

    /**
     * Claims the operators' allowances for this pair of images and returns the allowed checks. An allowance applies to one try-on;
     * a failed try-on releases it. An allowance for the same bytes takes precedence over one for other encodings of the images.
     */
    claimAllowances: async (id: string, accountId: string, pair: HashedPair): Promise<readonly SafetyAllowance[]> => {
      const { person, product } = pair
      if (person.length === 0 || product.length === 0) return []
      const isFree = sql.fragment`(used_by is null or used_by = ${id}
        or exists (select from generations where generations.id = used_by and status = 'FAILED'))`
      return database.any(sql.type(AllowanceRow)`
        with first as (
          select distinct on (failed_check, image) generation_id, failed_check, image
          from safety_refusals join safety_reviews using (generation_id)
          where account_id = ${accountId} and ${isAlike(sql.fragment`person_hashes[1]`, person[0])}
            and ${isAlike(sql.fragment`product_hashes[1]`, product[0])} and state = 'ALLOWED' and ${isFree}
          order by failed_check, image, (used_by = ${id}) desc nulls last, (image_digests = ${digestsOf(pair)}) desc nulls last, decided_at
        )
        update safety_reviews set used_by = ${id} from first
        where safety_reviews.generation_id = first.generation_id and state = 'ALLOWED' and ${isFree}
        returning failed_check as check, image`)
    },

    /** The images that operators blocked, also mirrored; null: the two images together. */
    findBlocked: async ({ person, product }: HashedPair): Promise<readonly (TryOnImage | null)[]> => {
      const both = (hashes: readonly ImageHashes[]) =>
        sql.array(
          hashes.flatMap(({ hash, mirrored }) => [hash, mirrored]),
          'text',
        )
      const rows = await database.any(sql.type(ImageRow)`
        with blocks as (select * from safety_blocks where expires_at is null or expires_at > now())
        select named.image from blocks cross join (
          select 'person' as image, unnest(${both(person)}) as hex
          union all select 'product', unnest(${both(product)})) as named
        where product_hash is null and ${isCopy(sql.fragment`hash`, sql.fragment`hex`)}
        union
        select null from blocks cross join unnest(${both(person)}) as photo (hex) cross join unnest(${both(product)}) as garment (hex)
        where ${isCopy(sql.fragment`hash`, sql.fragment`photo.hex`)} and ${isCopy(sql.fragment`product_hash`, sql.fragment`garment.hex`)}
        order by image`)
      return rows.map(({ image }) => image)
    },
  }
}

function isCopy(hash: ReturnType<typeof toBits>, hex: ReturnType<typeof toBits>, maxDistance = MAX_DISTANCE) {
  return sql.fragment`bit_count(${hash} # ${toBits(hex)}) <= ${maxDistance}`
}

function isAlike(allowedHex: ReturnType<typeof toBits>, { hash }: ImageHashes) {
  return isCopy(toBits(allowedHex), sql.fragment`${hash}::text`, MAX_ALLOWED_DISTANCE)
}

function digestsOf({ digests: [person, product] }: HashedPair) {
  return sql.fragment`array[decode(${person}, 'hex'), decode(${product}, 'hex')]`
}

interface Refusal {
  readonly id: string
  readonly attempt: number
  readonly check: SafetyCheck
  /** Null: the result. */
  readonly image: TryOnImage | null
  readonly pair: HashedPair
}

function hexList(hashes: readonly ImageHashes[]) {
  return sql.array(
    hashes.map(({ hash }) => hash),
    'text',
  )
}
