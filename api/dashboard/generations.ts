import type {
  FoundGeneration,
  GenerationDetail,
  GenerationSearch,
  GenerationSearches,
} from '../generations/generation-search.store.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { Type } from '../shared/contract/schema.ts'
import { STATUSES } from '../shared/generations/generation.ts'
import { createGenerations, type Generations } from '../shared/generations/generations.store.ts'
import type { Announce } from '../shared/generations/transitions.store.ts'
import { contentTypeOf, type ObjectStorage } from '../shared/storage/object.ts'
import { type AccountSearch, describeAccount, readAccount, suggestAccounts } from './account-field.ts'
import { PAGE } from './accounts.ts'
import { allOf, sendCsv } from './csv-file.ts'
import { fieldsReader, queryOf } from './form.ts'
import { presentGeneration, presentGenerationActions, presentGenerations, presentImage } from './generations.view.ts'
import { seeOther, showPage } from './layout.ts'
import type { OperatorAudit } from './operator-audit.store.ts'
import { pages } from './pages.ts'
import { actorOf, type DashboardContext } from './state.ts'
import { Minute, readTime } from './times.ts'

export interface GenerationPagesOptions {
  readonly searches: GenerationSearches
  readonly generations: Pick<Generations, 'find'>
  readonly accounts: AccountSearch
  readonly storage: ObjectStorage
  readonly audit: OperatorAudit
  /** Publishes the end of a generation. */
  readonly announce: Announce
}

/** Generations, their outcomes and, with a reason, their images. */
export const generationPages = pages<GenerationPagesOptions>([
  { route: 'GET /generations', role: 'viewer', menu: 'Generations', isSearch: true, run: showGenerations },
  { route: 'GET /generations.csv', role: 'viewer', run: exportGenerations },
  { route: 'GET /generations/:id', role: 'viewer', run: showGeneration },
  {
    route: 'POST /generations/:id/image',
    role: 'support',
    form: '/generations/:id',
    done: { 'picture.view': { message: 'The image was shown.', at: '/generations/:object' } },
    run: showImage,
  },
  {
    route: 'POST /generations/:id/cancel',
    role: 'support',
    form: '/generations/:id',
    done: { 'generation.cancel': { message: 'The generation was cancelled.', at: '/generations/:object' } },
    run: cancelGeneration,
  },
])

const readSearch = fieldsReader(
  Type.Object({
    id: Type.Optional(Type.String({ maxLength: 100 })),
    account: Type.Optional(Type.String({ maxLength: 300 })),
    status: Type.Optional(Type.Enum([...STATUSES])),
    code: Type.Optional(Type.String({ maxLength: 100 })),
    from: Minute,
    to: Minute,
    before: Type.Optional(Type.String({ maxLength: 100 })),
  }),
)

async function showGenerations(ctx: DashboardContext, { searches, accounts }: GenerationPagesOptions): Promise<void> {
  const query = queryOf(ctx)
  const { id } = readSearch(query)
  if (id !== undefined) return seeOther(ctx, `/generations/${encodeURIComponent(id)}`)
  const { kept, forms } = ctx.state
  const search = await readGenerationSearch(query, accounts)
  const { accountId } = search
  const found = kept === null ? await searches.search({ ...search, limit: PAGE }) : []
  showPage(ctx, {
    title: 'Generations',
    body: presentGenerations(found, {
      query,
      isFull: found.length === PAGE,
      forms,
      account: await describeAccount(accounts, accountId),
      suggestions: await suggestAccounts(accounts),
    }),
  })
}

async function readGenerationSearch(
  query: URLSearchParams,
  accounts: AccountSearch,
): Promise<Omit<GenerationSearch, 'limit'>> {
  const { account = null, status = null, code = null, before = null, ...times } = readSearch(query)
  const [from, to] = [readTime('from', times.from), readTime('to', times.to)]
  const accountId = account === null ? null : await readAccount(accounts, account)
  return { accountId, status, errorCode: code, from, to, before }
}

async function exportGenerations(ctx: DashboardContext, options: GenerationPagesOptions): Promise<void> {
  const search = await readGenerationSearch(queryOf(ctx), options.accounts)
  sendCsv(ctx, 'generations', generationRows(search, options.searches))
}

async function* generationRows(
  search: Omit<GenerationSearch, 'limit'>,
  searches: GenerationSearches,
): AsyncGenerator<string[]> {
  yield ['id', 'status', 'error_code', 'account', 'product', 'engine', 'seconds', 'accepted_at']
  const all = allOf<FoundGeneration>((last, limit) => searches.search({ ...search, before: last?.id ?? null, limit }))
  for await (const { id, status, errorCode, accountId, productExternalId, engine, seconds, createdAt } of all)
    yield [
      ...[id, status, errorCode ?? '', accountId, productExternalId, engine],
      ...[seconds === null ? '' : String(seconds), createdAt.toISOString()],
    ]
}

async function findGeneration(ctx: DashboardContext, searches: GenerationSearches): Promise<GenerationDetail> {
  const found = await searches.find(ctx.params.id)
  if (found === null) throw new DrapeError('GENERATION_NOT_FOUND', `The generation ${ctx.params.id} does not exist.`)
  return found
}

async function showGeneration(ctx: DashboardContext, options: GenerationPagesOptions): Promise<void> {
  const { searches, generations } = options
  const generation = await findGeneration(ctx, searches)
  const [events, record] = await Promise.all([searches.listEvents(generation.id), generations.find(generation.id)])
  const { operator, forms } = ctx.state
  showPage(ctx, {
    title: 'Generation',
    actions: presentGenerationActions(generation, (path) =>
      ctx.state.pages.isPermitted(operator?.role ?? 'viewer', 'POST', path),
    ),
    body: presentGeneration(generation, { events, record, forms }),
  })
}

const readRequest = fieldsReader(
  Type.Object({ which: Type.Enum(['person', 'result']), reason: Type.String({ minLength: 3, maxLength: 500 }) }),
)

/** The image shows a person: operators must give a reason before they see it. */
async function showImage(ctx: DashboardContext, { searches, storage, audit }: GenerationPagesOptions): Promise<void> {
  const { which, reason } = readRequest(ctx.state.form)
  const { id, accountId, personKey, resultKey } = await findGeneration(ctx, searches)
  const key = which === 'person' ? personKey : resultKey
  const bytes = key === null ? null : await storage.get(key)
  if (key === null || bytes === null)
    throw new DrapeError('IMAGE_NOT_FOUND', 'The image does not exist or has been deleted.')
  // After the last step that can fail: an audited form has been executed, and is never executed again.
  await audit.insert(actorOf(ctx), { action: 'picture.view', object: id, accountId, reason, details: { which } })
  const source = `data:${contentTypeOf(key)};base64,${bytes.toString('base64')}`
  showPage(ctx, { title: 'Image', body: presentImage({ id, which, source }) })
}

const readReason = fieldsReader(Type.Object({ reason: Type.String({ minLength: 3, maxLength: 500 }) }))

async function cancelGeneration(ctx: DashboardContext, options: GenerationPagesOptions): Promise<void> {
  const { reason } = readReason(ctx.state.form)
  const { id, accountId } = await findGeneration(ctx, options.searches)
  const published: Parameters<Announce>[] = []
  await options.audit.record(actorOf(ctx), async (within) => {
    const generations = createGenerations(within, (...move) => void published.push(move))
    const message = 'The generation was cancelled by an operator.'
    const isEnded = await generations.fail({ id, attempt: null, code: 'GENERATION_CANCELLED', message })
    if (!isEnded) throw new DrapeError('VALIDATION_FAILED', 'The generation has already ended.')
    return { act: { action: 'generation.cancel', object: id, accountId, reason } }
  })
  for (const move of published) options.announce(...move)
  seeOther(ctx, `/generations/${id}`, 'cancelled')
}
