import {
  createGenerationSearches,
  type FoundGeneration,
  type GenerationDetail,
  type GenerationSearches,
} from '../../generations/generation-search.store.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import { STATUSES } from '../../shared/generations/generation.ts'
import { createGenerations, type Generations } from '../../shared/generations/generations.store.ts'
import type { Announce } from '../../shared/generations/transitions.store.ts'
import { contentTypeOf, type ObjectStorage } from '../../shared/storage/object.ts'
import type { AccountSearch } from '../forms/account-field.ts'
import { reasonField } from '../forms/fields.ts'
import { fieldsReader, Reason, readReason } from '../forms/form.ts'
import { seeOther, showPage } from '../html/layout.ts'
import { listPages, readChosen, seeList } from '../html/list.ts'
import type { OpenList } from '../html/list.view.ts'
import type { Act, OperatorAudit } from '../operator-audit.store.ts'
import { anyOwner, listed, pages } from '../page.ts'
import { actorOf, type DashboardContext, type SignedInContext } from '../state.ts'
import {
  GENERATION_COLUMNS,
  imagesOf,
  isRunning,
  NO_GENERATIONS,
  presentGeneration,
  presentGenerationActions,
  presentImage,
} from './generations.view.ts'

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
  ...listPages<GenerationPagesOptions, FoundGeneration>({
    path: '/generations',
    owns: anyOwner,
    menu: 'Generations',
    columns: GENERATION_COLUMNS,
    filters: [
      { of: 'status', label: 'Status', options: STATUSES.map((status) => [status, status.toLowerCase()] as const) },
      { of: 'errorCode', label: 'Error code' },
      { of: 'engine', label: 'Engine' },
      { of: 'shopId', label: 'Shop' },
    ],
    open: openGenerations,
  }),
  { route: 'POST /generations/cancel', role: 'support', run: cancelChosen },
  {
    route: 'GET /generations/:id',
    role: 'viewer',
    owns: listed(({ searches }) => searches.listing),
    run: showGeneration,
  },
  {
    route: 'POST /generations/:id/image',
    role: 'support',
    done: { 'picture.view': 'The image was shown.' },
    run: showImage,
  },
  {
    route: 'POST /generations/:id/cancel',
    role: 'support',
    done: { 'generation.cancel': 'Cancelled. The credits were refunded.' },
    run: cancelGeneration,
  },
])

function openGenerations(
  _: DashboardContext,
  { searches, accounts }: GenerationPagesOptions,
): OpenList<FoundGeneration> {
  return {
    title: 'Generations',
    caption: 'Generations, newest first',
    listing: searches.listing,
    accounts,
    empty: NO_GENERATIONS,
    chosen: {
      action: '/generations/cancel',
      submit: 'Cancel the chosen generations',
      danger: true,
      isChoosable: isRunning,
      body: reasonField,
    },
  }
}

async function findGeneration(ctx: DashboardContext, searches: GenerationSearches): Promise<GenerationDetail> {
  const found = await searches.find(ctx.params.id)
  if (found === null) throw new DrapeError('GENERATION_NOT_FOUND', `The generation ${ctx.params.id} does not exist.`)
  return found
}

async function showGeneration(ctx: SignedInContext, options: GenerationPagesOptions): Promise<void> {
  const { searches, generations } = options
  const generation = await findGeneration(ctx, searches)
  const [events, record] = await Promise.all([searches.listEvents(generation.id), generations.find(generation.id)])
  const { operator, forms } = ctx.state
  showPage(ctx, {
    title: 'Generation',
    actions: presentGenerationActions(generation, (path) => ctx.state.pages.isPermitted(operator.role, 'POST', path)),
    body: presentGeneration(generation, { events, record, forms, showsWorkers: operator.accountId === null }),
  })
}

const readRequest = fieldsReader(Type.Object({ which: Type.String(), reason: Reason }))

/** The image shows a person: operators must give a reason before they see it. */
async function showImage(ctx: DashboardContext, { searches, storage, audit }: GenerationPagesOptions): Promise<void> {
  const { which, reason } = readRequest(ctx.state.form)
  const generation = await findGeneration(ctx, searches)
  const { id, accountId } = generation
  const key = imagesOf(generation).find(({ name }) => name === which)?.key
  const bytes = key === undefined ? null : await storage.get(key)
  if (key === undefined || bytes === null)
    throw new DrapeError('IMAGE_NOT_FOUND', 'The image does not exist or has been deleted.')
  // After the last step that can fail: an audited form has been executed, and is never executed again.
  await audit.insert(actorOf(ctx), { action: 'picture.view', object: id, accountId, reason, details: { which } })
  const source = `data:${contentTypeOf(key)};base64,${bytes.toString('base64')}`
  showPage(ctx, { title: 'Image', body: presentImage({ id, which, source }) })
}

async function cancelGeneration(ctx: DashboardContext, options: GenerationPagesOptions): Promise<void> {
  const { reason } = readReason(ctx.state.form)
  const { id } = await findGeneration(ctx, options.searches)
  if (!(await cancel(ctx, { ids: [id], reason }, options)))
    throw new DrapeError('VALIDATION_FAILED', 'The generation has already ended.')
  seeOther(ctx, `/generations/${id}`, 'generation.cancel')
}

async function cancelChosen(ctx: DashboardContext, options: GenerationPagesOptions): Promise<void> {
  const { reason } = readReason(ctx.state.form)
  const ids = readChosen(ctx)
  if (!(await cancel(ctx, { ids, reason }, options)))
    throw new DrapeError('VALIDATION_FAILED', 'All of these generations have already ended.')
  seeList(ctx, '/generations', 'generation.cancel')
}

/** Cancels those that have not ended, all or none. Returns whether there was any. */
async function cancel(
  ctx: DashboardContext,
  { ids, reason }: { readonly ids: readonly string[]; readonly reason: string },
  { audit, announce }: GenerationPagesOptions,
): Promise<boolean> {
  const published: Parameters<Announce>[] = []
  const done = await audit.record(actorOf(ctx), async (within) => {
    const generations = createGenerations(within, (...move) => void published.push(move))
    const message = 'The generation was cancelled by an operator.'
    const act: Act[] = []
    for (const id of ids) {
      const found = await createGenerationSearches(within).find(id)
      if (found === null) continue
      const isCancelled = await generations.fail({ id, attempt: null, code: 'GENERATION_CANCELLED', message })
      if (isCancelled) act.push({ action: 'generation.cancel', object: id, accountId: found.accountId, reason })
    }
    return act.length === 0 ? null : { act }
  })
  for (const move of published) announce(...move)
  return done !== null
}
