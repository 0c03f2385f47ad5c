import { presentErasure } from '../../erasure/customers.routes.ts'
import type { ErasureRecord, Erasures, ListedErasure } from '../../erasure/erasures.store.ts'
import type { FoundPerson, People } from '../../erasure/people.store.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import type { Customer } from '../../shared/retention/customer.ts'
import { attachment } from '../../shared/storage/attachment.ts'
import type { ObjectStorage } from '../../shared/storage/object.ts'
import type { AccountSearch } from '../forms/account-field.ts'
import { fieldsReader, queryOf, Reason } from '../forms/form.ts'
import { seeOther, showPage } from '../html/layout.ts'
import { listPages, viewOf } from '../html/list.ts'
import type { OperatorAudit } from '../operator-audit.store.ts'
import { pages } from '../page.ts'
import { actorOf, type DashboardContext } from '../state.ts'
import { ERASURE_COLUMNS, presentErasureList, presentErasurePage, presentPeople, presentPerson } from './people.view.ts'

export interface PersonPagesOptions {
  readonly accounts: AccountSearch
  readonly people: People
  readonly erasures: Pick<Erasures, 'find' | 'listing'>
  /** Erases an end user everywhere. Returns the ID of the erasure. */
  readonly erase: (customer: Customer) => Promise<string>
  readonly storage: ObjectStorage
  readonly audit: OperatorAudit
}

/** End users by any ID: what is stored about one, its export, and its erasure with the receipt. */
export const personPages = pages<PersonPagesOptions>([
  { route: 'GET /people', role: 'support', menu: 'People', isSearch: true, run: showPeople },
  {
    route: 'POST /people/export',
    role: 'support',
    done: { 'person.export': 'The data was exported.' },
    run: exportPerson,
  },
  {
    route: 'POST /people/erase',
    role: 'support',
    done: { 'person.erase': { message: 'The erasure was started.', at: '/erasures' } },
    run: erasePerson,
  },
  ...listPages<PersonPagesOptions, ListedErasure>({
    path: '/erasures',
    columns: ERASURE_COLUMNS,
    open: ({ state }, { erasures, accounts }) => ({
      ...presentErasureList(state.forms),
      listing: erasures.listing,
      accounts,
    }),
  }),
  { route: 'GET /erasures/:id', role: 'viewer', run: showErasure },
  { route: 'GET /erasures/:id/receipt', role: 'viewer', run: sendReceipt },
])

const MAX_FOUND = 50
const Id = Type.String({ maxLength: 500 })
const readSearch = fieldsReader(
  Type.Object({
    q: Type.String({ maxLength: 500, default: '' }),
    account: Type.Optional(Id),
    person: Type.Optional(Id),
  }),
)

async function showPeople(ctx: DashboardContext, { people, accounts }: PersonPagesOptions): Promise<void> {
  const { kept, forms } = ctx.state
  const query = viewOf(kept?.values) ?? queryOf(ctx)
  const { q, account, person } = readSearch(query)
  const found = q === '' ? [] : await people.find(q, MAX_FOUND)
  const only: FoundPerson | undefined = found.length === 1 ? found[0] : undefined
  const customer =
    account !== undefined && person !== undefined
      ? { accountId: account, externalUserId: person }
      : only && { accountId: only.accountId, externalUserId: only.externalUserId }
  const body =
    customer === undefined
      ? presentPeople(found, { q, isFull: found.length === MAX_FOUND, forms })
      : presentPerson(customer, {
          accountName: (await accounts.findNames([customer.accountId])).get(customer.accountId),
          held: await people.hold(customer),
          query,
          forms,
        })
  showPage(ctx, { title: customer === undefined ? 'People' : 'Person', body })
}

const readPerson = fieldsReader(Type.Object({ account: Id, person: Id, reason: Reason }))

const LINK_SECONDS = 86_400

/** The audit log, which outlives the data, does not name the person. */
async function exportPerson(ctx: DashboardContext, { people, storage, audit }: PersonPagesOptions): Promise<void> {
  const { account: accountId, person: externalUserId, reason } = readPerson(ctx.state.form)
  const { photos, generations, ...held } = await people.hold({ accountId, externalUserId })
  const urlOf = (key: string) => storage.signedUrl(key, { expiresInSeconds: LINK_SECONDS })
  const data = {
    photos: await Promise.all(
      photos.map(async ({ objectKey, ...photo }) => ({ ...photo, imageUrl: objectKey && (await urlOf(objectKey)) })),
    ),
    generations: await Promise.all(
      generations.map(async ({ objectKeys, ...generation }) => ({
        ...generation,
        imageUrls: await Promise.all(objectKeys.map(urlOf)),
      })),
    ),
  }
  await audit.insert(actorOf(ctx), { action: 'person.export', object: null, accountId, reason })
  ctx.set('Content-Disposition', attachment('person.json'))
  ctx.type = 'json'
  ctx.body = JSON.stringify({ account: accountId, id: externalUserId, ...data, ...held }, null, 2)
}

async function erasePerson(ctx: DashboardContext, { erase, accounts, audit }: PersonPagesOptions): Promise<void> {
  const { account: accountId, person: externalUserId, reason } = readPerson(ctx.state.form)
  if ((await accounts.find(accountId)) === null)
    throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${accountId} does not exist.`)
  await audit.insert(actorOf(ctx), { action: 'person.erase', object: null, accountId, reason })
  seeOther(ctx, `/erasures/${await erase({ accountId, externalUserId })}`)
}

async function findErasure(
  ctx: DashboardContext,
  { erasures }: PersonPagesOptions,
): Promise<[ListedErasure, ErasureRecord]> {
  const [listed] = await erasures.listing.list({ only: { id: ctx.params.id } }, { limit: 1 })
  const record = listed === undefined ? null : await erasures.find(listed)
  if (record === null) throw new DrapeError('ERASURE_NOT_FOUND', 'The erasure does not exist.')
  return [listed, record]
}

async function showErasure(ctx: DashboardContext, options: PersonPagesOptions): Promise<void> {
  const [listed, record] = await findErasure(ctx, options)
  showPage(ctx, { title: 'Erasure', body: presentErasurePage(listed, record) })
}

/** As the API answers it. */
async function sendReceipt(ctx: DashboardContext, options: PersonPagesOptions): Promise<void> {
  const [{ id }, record] = await findErasure(ctx, options)
  ctx.set('Content-Disposition', attachment(`${id}.json`))
  ctx.type = 'json'
  ctx.body = JSON.stringify(presentErasure(record), null, 2)
}
