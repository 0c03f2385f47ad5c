import { DrapeError } from '../../shared/contract/errors.ts'
import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../../shared/database/database.ts'
import { STATUSES } from '../../shared/generations/generation.ts'
import { keptResultKey } from '../../shared/generations/generations.store.ts'
import { LINK_DAYS } from './share-link.ts'

const Candidate = rowType(Type.Object({ status: Type.Enum([...STATUSES]), hasImage: Type.Boolean() }))
const Link = rowType(Type.Object({ token: Type.String(), expiresAt: Timestamp }))
const link = sql.fragment`token, share_links.expires_at as "expiresAt"`

const SharedRow = Type.Object({
  token: Type.String(),
  domain: Type.String(),
  expiresAt: Timestamp,
  /** Null when the link, its image or its shop no longer exists. */
  resultKey: Nullable(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  productId: Type.String(),
  productTitle: Nullable(Type.String()),
  productDescription: Nullable(Type.String()),
  productImageUrl: Nullable(Type.String()),
  shopName: Nullable(Type.String()),
  shopDomain: Type.String(),
})
export type SharedGeneration = Static<typeof SharedRow>

export interface NewShare {
  /** Token of a new link; unused if a link exists. */
  readonly token: string
  readonly generationId: string
  readonly accountId: string
  /** Shop in whose name the link is. */
  readonly shopId: string
  /** Owners of the shop whose generations may be shared. Null: any generation of the account. */
  readonly ownerIds: readonly string[] | null
  /** Domain of the shop that the shopper visited. */
  readonly domain: string
}

export type Shares = ReturnType<typeof createShares>

/** Store of public links to the results of a shop's generations. */
export function createShares(database: Database) {
  return {
    /**
     * Returns the link of a generation on a domain, or creates one. Concurrent calls get the same link. Throws
     * `GENERATION_NOT_FOUND` (also for a generation that may not be shared), `GENERATION_NOT_COMPLETED` or `SHARE_LINK_GONE` (the
     * image has been deleted).
     */
    findOrInsert: ({ token, generationId, shopId, domain, ...owner }: NewShare) =>
      database.transaction(async (transaction) => {
        // A concurrent call for the same generation waits for this lock and then finds the link.
        const generation = await transaction.maybeOne(sql.type(Candidate)`
          select status, coalesce(${keptResultKey} is not null and images_expire_at > now(), false) as "hasImage"
          from generations where id = ${generationId} and ${mayShare({ shopId, ...owner })} for no key update`)
        if (generation === null) throw new DrapeError('GENERATION_NOT_FOUND', 'The generation does not exist.')
        if (generation.status !== 'COMPLETED') {
          throw new DrapeError('GENERATION_NOT_COMPLETED', 'Only a completed generation can be shared.')
        }
        if (!generation.hasImage) throw new DrapeError('SHARE_LINK_GONE', 'The image has been deleted.')
        const found = await transaction.maybeOne(sql.type(Link)`
          select ${link} from share_links
          where generation_id = ${generationId} and domain = ${domain} and expires_at > now()
          order by expires_at desc limit 1`)
        if (found) return { ...found, isNew: false }
        const made = await transaction.one(sql.type(Link)`
          insert into share_links (token, generation_id, shop_id, domain, expires_at)
          select ${token}, id, ${shopId}, ${domain},
            least(now_ms() + make_interval(days => ${LINK_DAYS}), images_expire_at)
          from generations where id = ${generationId}
          returning ${link}`)
        return { ...made, isNew: true }
      }),

    find: (token: string): Promise<SharedGeneration | null> =>
      database.maybeOne(sql.type(rowType(SharedRow))`
        select ${link},
          case when share_links.domain = any(extra_domains) then share_links.domain else shops.domain end as domain,
          case when share_links.expires_at > now() and images_expire_at > now() and shops.is_active and accounts.is_active
            then ${keptResultKey} end as "resultKey",
          generations.created_at as "createdAt", generations.updated_at as "updatedAt",
          product as "productId", coalesce(join_layers(shown_layers(layers), 'title'), shown->>'title') as "productTitle",
          shown->>'description' as "productDescription", shown->'images'->0->>'sourceUrl' as "productImageUrl",
          shops.name as "shopName", shops.domain as "shopDomain"
        from share_links
        join generations on generations.id = generation_id
        join shops on shops.id = share_links.shop_id
        join accounts on accounts.id = shops.account_id
        cross join shown_product(layers, product_external_id) as product
        cross join lateral (select case when product = product_external_id then snapshot end as shown) as described
        where token = ${token}`),
  }
}

function mayShare({ accountId, shopId, ownerIds }: Pick<NewShare, 'accountId' | 'shopId' | 'ownerIds'>) {
  return ownerIds === null
    ? sql.fragment`account_id = ${accountId}`
    : sql.fragment`shop_id = ${shopId} and external_user_id = any(${sql.array([...ownerIds], 'text')})`
}
