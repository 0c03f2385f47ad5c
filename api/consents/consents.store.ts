import { DrapeError } from '../shared/contract/errors.ts'
import { type Static, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
import type { Customer } from '../shared/retention/customer.ts'

/** Text by language, as in `en` or `de-at`. */
const PolicyTexts = Type.Record(Type.String(), Type.String())
export type PolicyTexts = Readonly<Static<typeof PolicyTexts>>

const PolicyRow = Type.Object({ version: Type.String(), texts: PolicyTexts })
/** A version of a policy that was published. */
export type PolicyVersion = Readonly<Static<typeof PolicyRow>>

const PublishedRow = Type.Object({ ...PolicyRow.properties, policy: Type.String(), publishedAt: Timestamp })
export type PublishedPolicy = Readonly<Static<typeof PublishedRow>>

const Given = rowType(Type.Object({ at: Timestamp }))
const Version = rowType(Type.Object({ version: Type.String() }))
const Withdrawn = rowType(Type.Object({ given: Type.Integer(), withdrawn: Type.Integer() }))

const Known = Type.Enum(['data', 'consent', 'nothing'])
type Known = Static<typeof Known>
const KnownRow = rowType(Type.Object({ known: Known }))

export interface PolicyName {
  readonly accountId: string
  /** Domain of the shop, or the name that the account gave it. */
  readonly policy: string
}

/** A visitor, identified like the owner of an image. */
export interface Visitor {
  readonly accountId: string
  readonly shopId: string
  readonly shopperId: string
}

export type Consents = ReturnType<typeof createConsents>

/** Store of policies, and of the consents of visitors to their versions. */
export function createConsents(database: Database) {
  const isOf = ({ accountId, shopId, shopperId }: Visitor) =>
    sql.fragment`shop_id = ${shopId} and visitor = customer_hash(${accountId}, ${shopperId})`

  return {
    /** The newest version; null when none was published. */
    findPolicy: ({ accountId, policy }: PolicyName): Promise<PolicyVersion | null> =>
      database.maybeOne(sql.type(rowType(PolicyRow))`
        select version, texts from consent_policies where account_id = ${accountId} and policy = ${policy}
        order by id desc limit 1`),

    /** Every version, newest first; of one policy, or of all of the account. */
    listPolicies: (accountId: string, policy: string | null): Promise<readonly PublishedPolicy[]> =>
      database.any(sql.type(rowType(PublishedRow))`
        select policy, version, texts, published_at as "publishedAt" from consent_policies
        where account_id = ${accountId} and (${policy}::text is null or policy = ${policy}) order by id desc`),

    /** Whether the policy has, or had, this version. */
    isKnownVersion: ({ accountId, policy }: PolicyName, version: string): Promise<boolean> =>
      database.exists(sql.unsafe`
        select 1 from consent_policies
        where account_id = ${accountId} and policy = ${policy} and version = ${version}`),

    /** The name of the policy of a shop of the account; false for any other name. */
    isShop: ({ accountId, policy }: PolicyName): Promise<boolean> =>
      database.exists(sql.unsafe`select 1 from shops where account_id = ${accountId} and domain = ${policy}`),

    /**
     * Makes a version the newest. With its first policy a shop requires consent; later versions keep the setting. Throws
     * `VALIDATION_FAILED` for a version that was published before: its text must not change.
     */
    publish: async ({ accountId, policy }: PolicyName, { version, texts }: PolicyVersion): Promise<void> => {
      const published = await database.maybeOneFirst(sql.type(Version)`
        with published as (
          insert into consent_policies (account_id, policy, version, texts)
          values (${accountId}, ${policy}, ${version}, ${sql.jsonb(texts)})
          on conflict do nothing returning version
        ), required as (
          -- The statement does not see the row that it inserts.
          update shops set requires_consent = true where account_id = ${accountId} and domain = ${policy}
            and not exists (select from consent_policies where account_id = ${accountId} and policy = ${policy})
        )
        select version from published`)
      if (published !== null) return
      const message = `The version ${version} was published before. Choose another one.`
      throw new DrapeError('VALIDATION_FAILED', message, { details: [{ path: 'version', message }] })
    },

    /** When the visitor agreed to the version; null if the visitor has not agreed or has withdrawn. */
    findGiven: (visitor: Visitor, version: string): Promise<Date | null> =>
      database.maybeOneFirst(sql.type(Given)`
        select given_at as at from consents where ${isOf(visitor)} and version = ${version} and withdrawn_at is null`),

    /** Records the consent of the visitor. Returns its time; an existing consent keeps its time. */
    give: async (visitor: Visitor, { version, language }: { version: string; language: string }): Promise<Date> =>
      database.oneFirst(sql.type(Given)`
        insert into consents as known (shop_id, visitor, version, language)
        values (${visitor.shopId}, customer_hash(${visitor.accountId}, ${visitor.shopperId}), ${version}, ${language})
        on conflict (visitor, shop_id, version) where withdrawn_at is null do update set given_at = known.given_at
        returning given_at as at`),

    /** What an erasure of the visitor would delete: `data` if anything is stored about them, `consent` if only the proof of their consent is. */
    findKnown: ({ accountId, externalUserId }: Customer): Promise<Known> => {
      const isTheirs = sql.fragment`account_id = ${accountId} and external_user_id = ${externalUserId}`
      return database.oneFirst(sql.type(KnownRow)`
        select case
          when exists (select from images where ${isTheirs}) or exists (select from objects where ${isTheirs})
            or exists (select from generations where ${isTheirs} or account_id = ${accountId} and photo_user_id = ${externalUserId})
            or exists (select from leads where owner_ids @> array[${externalUserId}])
            or exists (select from lead_outbox where owner_ids @> array[${externalUserId}]) then 'data'
          when exists (select from consents where visitor = customer_hash(${accountId}, ${externalUserId})) then 'consent'
          else 'nothing' end as known`)
    },

    /** Counts of the valid and the withdrawn consents of a shop. */
    count: (shopId: string) =>
      database.one(sql.type(Withdrawn)`
        select count(*) filter (where withdrawn_at is null)::int as given,
          count(*) filter (where withdrawn_at is not null)::int as withdrawn
        from consents where shop_id = ${shopId}`),
  }
}
