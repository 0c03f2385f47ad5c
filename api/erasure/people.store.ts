import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, Json, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { type Customer, idsOf, isGenerationOf, isOf } from '../shared/retention/customer.ts'
import { isEventOf } from '../shared/retention/customer-traces.ts'
import { browserId, parseShopperId } from '../shared/shopper-id.ts'

const FoundRow = Type.Object({
  accountId: Type.String(),
  accountName: Type.String(),
  externalUserId: Type.String(),
})
/** An end user of an account, by an ID under which data is stored. */
export type FoundPerson = Static<typeof FoundRow>

const ImageRow = Type.Object({
  id: Type.String(),
  objectKey: Nullable(Type.String()),
  createdAt: Timestamp,
  expiresAt: Nullable(Timestamp),
})
const GenerationRow = Type.Object({
  id: Type.String(),
  productExternalId: Type.String(),
  status: Type.String(),
  /** Of its results. */
  objectKeys: Type.Array(Type.String()),
  createdAt: Timestamp,
})
const LeadRow = Type.Object({
  domain: Type.String(),
  email: Type.String(),
  marketingConsent: Type.Boolean(),
  createdAt: Timestamp,
})
const ConsentRow = Type.Object({
  domain: Type.String(),
  version: Type.String(),
  givenAt: Timestamp,
  withdrawnAt: Nullable(Timestamp),
})
const EventRow = Type.Object({ name: Type.String(), count: Type.Integer() })
const AliasRow = rowType(Type.Object({ id: Type.String() }))
const RequestRow = Type.Object({ domain: Type.String(), held: Json, createdAt: Timestamp })

/** Newest generations whose events lead to other IDs. Events have no index of generations. */
const MAX_TRACED = 20

/** What is stored about an end user. */
export type HeldData = Awaited<ReturnType<People['hold']>>
export type People = ReturnType<typeof createPeople>

/** End users of all accounts, by any ID that the installation has for them. */
export function createPeople(database: Database) {
  return {
    /**
     * Those whom the text names: as `externalUserId`, customer ID of the platform of a shop, or anonymous ID; by the ID of a photo or
     * generation of theirs; by the e-mail address that they left with a shop. The proof of a withdrawn consent alone finds nobody.
     */
    find: (text: string, limit: number): Promise<readonly FoundPerson[]> =>
      database.any(sql.type(rowType(FoundRow))`
        with named as (
          select account_id, external_user_id as id from images where id = ${text}
          union select account_id, unnest(array[external_user_id, photo_user_id]) from generations where id = ${text}
          union select account_id, unnest(owner_ids) from leads join shops on shops.id = shop_id where lower(email) = lower(${text})
          union select account_id, unnest(owner_ids) from lead_outbox join shops on shops.id = shop_id where lower(email) = lower(${text})
          union select accounts.id, ${text} from accounts cross join lateral customer_ids(accounts.id, ${text}) as ids
          where exists (select from images where account_id = accounts.id and external_user_id = any(ids))
            or exists (select from objects where account_id = accounts.id and external_user_id = any(ids))
            or exists (select from generations where account_id = accounts.id and external_user_id = any(ids))
            or exists (select from generations where account_id = accounts.id and photo_user_id = any(ids))
            or exists (select from event_batches where account_id = accounts.id and customer_id = ${text})
            or exists (select from event_batches where account_id = accounts.id and anonymous_id = ${browserId(text)})
            or exists (select from leads join shops on shops.id = shop_id where account_id = accounts.id and owner_ids && ids)
            or exists (select from lead_outbox join shops on shops.id = shop_id where account_id = accounts.id and owner_ids && ids)
            or exists (select from consents where withdrawn_at is null
              and visitor = any(array(select customer_hash(accounts.id, id) from unnest(ids) as id)))
        )
        select account_id as "accountId", accounts.name as "accountName", named.id as "externalUserId"
        from named join accounts on accounts.id = account_id where named.id is not null
        order by 2, 1, 3 limit ${limit}`),

    /** Everything that an erasure of the end user would delete or reduce, newest first, and other IDs that the person's events name. */
    hold: async (customer: Customer) => {
      const { accountId, externalUserId } = customer
      const own = parseShopperId(externalUserId)?.value ?? externalUserId
      const isTheirLead = sql.fragment`account_id = ${accountId} and owner_ids && ${idsOf(customer)}`
      const [photos, generations, leads, consents, events, aliases, requests] = await Promise.all([
        database.any(sql.type(rowType(ImageRow))`
          select id, object_key as "objectKey", created_at as "createdAt", expires_at as "expiresAt"
          from images where ${isOf(customer)} order by id desc`),
        database.any(sql.type(rowType(GenerationRow))`
          select id, coalesce(join_layers(layers, 'externalId'), product_external_id) as "productExternalId", status, created_at as "createdAt",
            array(select key from objects where generation_id = generations.id order by objects.created_at) as "objectKeys"
          from generations where ${isGenerationOf(customer)} order by id desc`),
        database.any(sql.type(rowType(LeadRow))`
          select domain, email, marketing_consent as "marketingConsent", leads.created_at as "createdAt"
          from leads join shops on shops.id = shop_id where ${isTheirLead}
          union all
          select domain, email, marketing_consent, lead_outbox.created_at
          from lead_outbox join shops on shops.id = shop_id where ${isTheirLead}`),
        database.any(sql.type(rowType(ConsentRow))`
          select domain, version, given_at as "givenAt", withdrawn_at as "withdrawnAt"
          from consents join shops on shops.id = shop_id
          where visitor = any(array(select customer_hash(${accountId}, id) from unnest(${idsOf(customer)}) as id))
          order by given_at desc`),
        database.any(sql.type(rowType(EventRow))`
          select name, count(*) as count from events
          where (received_on, batch_id) in (select received_on, id from event_batches where ${isEventOf(customer)})
          group by name order by name`),
        database.any(sql.type(AliasRow)`
          with theirs as (
            select anonymous_id, customer_id from event_batches where ${isEventOf(customer)}
            union
            select batches.anonymous_id, batches.customer_id from (
              select id, shop_id, created_at from generations
              where ${isGenerationOf(customer)} and shop_id is not null order by id desc limit ${MAX_TRACED}
            ) as made
            join event_batches as batches on account_id = ${accountId} and coalesce(batches.shop_id, made.shop_id) = made.shop_id
              and received_on between (created_at at time zone 'UTC')::date and (created_at at time zone 'UTC')::date + 1
              and received_at between created_at - interval '1 minute' and created_at + interval '1 hour'
            join events on events.received_on = batches.received_on and batch_id = batches.id and generation_id = made.id
          )
          select distinct id from theirs cross join unnest(array[anonymous_id, customer_id]) as id
          where id is not null and id not in (${own}, ${browserId(own)}) order by id limit ${MAX_TRACED}`),
        database.any(sql.type(rowType(RequestRow))`
          select domain, held, data_requests.created_at as "createdAt" from data_requests join shops on shops.id = shop_id
          where account_id = ${accountId} and shop_id || ':customer:' || customer_id = any(${idsOf(customer)})`),
      ])
      return { photos, generations, leads, consents, events, aliases: aliases.map(({ id }) => id), requests }
    },
  }
}
