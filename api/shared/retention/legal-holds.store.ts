import { isDeepStrictEqual } from 'node:util'
import { Nullable, Type } from '../contract/schema.ts'
import { type Database, rowType, sql } from '../database/database.ts'

/** A hold on images. */
export interface Hold {
  readonly accountId: string
  /** Customer of the account. Absent: all customers. */
  readonly externalUserId?: string
}

/** A retention policy and its holds; `null` when the holds are unreadable. */
export interface HoldingPolicy {
  readonly name: string
  readonly holds: readonly Hold[] | null
}

/**
 * Publisher of a policy: the controller from custom resources, or a process from the YAML file of an installation
 * without Kubernetes.
 */
export type HoldSource = 'kubernetes' | 'file'

export interface PublishedHolds {
  /** Policies whose holds were never readable: until they are, nothing may be deleted. */
  readonly unread: readonly string[]
  /** Deleted policies that held images. */
  readonly ended: readonly string[]
}

/** Placeholder for policies that are not known yet; not a valid policy name. */
const NOT_PUBLISHED = '*'

const PolicyRow = rowType(Type.Object({ name: Type.String(), isRead: Type.Boolean() }))
const HoldRow = rowType(
  Type.Object({ policy: Type.String(), accountId: Type.String(), externalUserId: Nullable(Type.String()) }),
)

interface State {
  /** By policy name: whether its holds were ever readable. */
  readonly policies: Readonly<Record<string, boolean>>
  readonly holds: readonly string[]
}

export type LegalHolds = ReturnType<typeof createLegalHolds>

export function createLegalHolds(database: Database) {
  return {
    /** Holds every image until the controller's next publication. */
    awaitPublication: async (): Promise<void> => {
      await database.query(sql.unsafe`
        insert into hold_policies (source, name) values ('kubernetes', ${NOT_PUBLISHED}) on conflict do nothing`)
    },

    /**
     * Replaces all policies of the source. A policy with unreadable holds keeps its last readable holds. Writes nothing
     * when nothing changed. On return, no deletion that ignores one of the holds is running.
     */
    publish: (source: HoldSource, policies: readonly HoldingPolicy[]): Promise<PublishedHolds> =>
      database.transaction(async (transaction) => {
        const before = await readState(transaction, source)
        const after = stateAfter(before, policies)
        const summary = {
          unread: Object.keys(after.policies).filter((name) => !after.policies[name]),
          ended: Object.keys(before.policies).filter(
            (name) => !(name in after.policies) && before.holds.some((hold) => policyOf(hold) === name),
          ),
        }
        if (isDeepStrictEqual(before, after)) return summary
        await transaction.query(sql.unsafe`select lock_legal_holds()`)
        const names = Object.keys(after.policies)
        await transaction.query(sql.unsafe`
          delete from hold_policies where source = ${source} and name <> all(${sql.array(names, 'text')})`)
        await transaction.query(sql.unsafe`
          insert into hold_policies (source, name, read_at)
          select ${source}, name, case when is_read then now_ms() end
          from unnest(${sql.array(names, 'text')}, ${sql.array(Object.values(after.policies), 'bool')}) as policy (name, is_read)
          on conflict (source, name) do update set read_at = coalesce(hold_policies.read_at, excluded.read_at)`)
        await transaction.query(sql.unsafe`delete from legal_holds where source = ${source}`)
        await transaction.query(sql.unsafe`
          insert into legal_holds (source, policy, account_id, external_user_id)
          select ${source}, hold->>0, hold->>1, hold->>2 from jsonb_array_elements(${sql.jsonb(after.holds.map((hold) => JSON.parse(hold)))}) as hold`)
        return summary
      }),
  }
}

/** Deletions of bytes run this first in their transaction: a later publication of holds waits for them. */
export const lockHolds = sql.unsafe`select lock_legal_holds_shared()`

/**
 * Whether the row of `objects` is held: by its account, by its customer, or, for a photo without a customer, because a
 * held customer used the photo. Every row is held while the holds of a policy are unknown.
 */
export const isHeld = sql.fragment`(
  exists (select from hold_policies where read_at is null)
  or exists (
    select from legal_holds as hold where hold.account_id = objects.account_id and (
      hold.external_user_id is null
      or hold.external_user_id = any(customer_names(objects.external_user_id))
      or objects.kind = 'person' and objects.external_user_id is null and exists (
        select from generations join images on images.id in (generations.image_id, generations.mask_image_id)
        where generations.account_id = hold.account_id
          and hold.external_user_id = any(customer_names(generations.external_user_id))
          -- The second key is the cropped view of the photo.
          and objects.key in (images.object_key, regexp_replace(images.object_key, '\\.\\w+$', '-view.jpg'))))))`

async function readState(database: Pick<Database, 'any'>, source: HoldSource): Promise<State> {
  const policies = await database.any(sql.type(PolicyRow)`
    select name, read_at is not null as "isRead" from hold_policies where source = ${source} order by name`)
  const holds = await database.any(sql.type(HoldRow)`
    select policy, account_id as "accountId", external_user_id as "externalUserId" from legal_holds where source = ${source}`)
  return {
    policies: Object.fromEntries(policies.map(({ name, isRead }) => [name, isRead])),
    holds: holds.map(({ policy, accountId, externalUserId }) => textOf(policy, accountId, externalUserId)).sort(),
  }
}

function stateAfter(before: State, policies: readonly HoldingPolicy[]): State {
  const sorted = [...policies].sort((a, b) => (a.name < b.name ? -1 : 1))
  const holds = sorted.flatMap(({ name, holds }) =>
    holds === null
      ? before.holds.filter((hold) => policyOf(hold) === name)
      : holds.map(({ accountId, externalUserId = null }) => textOf(name, accountId, externalUserId)),
  )
  return {
    policies: Object.fromEntries(
      sorted.map(({ name, holds }) => [name, holds !== null || before.policies[name] === true]),
    ),
    holds: [...new Set(holds)].sort(),
  }
}

function textOf(policy: string, accountId: string, externalUserId: string | null): string {
  return JSON.stringify([policy, accountId, externalUserId])
}

function policyOf(hold: string): string {
  return JSON.parse(hold)[0]
}
