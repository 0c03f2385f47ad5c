import type { Accounts } from '../../accounts/accounts.store.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import { decodeImage, encodeView } from '../../shared/image/image.ts'
import type { ObjectStorage } from '../../shared/storage/object.ts'
import { createRemovalCandidates, type RemovalCandidates } from '../../trust/removals/removal-candidates.store.ts'
import { createRemovals, REMOVAL_STATES, type Removal, type Removals } from '../../trust/removals/removals.store.ts'
import { change } from '../forms/change.ts'
import { fieldsReader, Reason, readReason } from '../forms/form.ts'
import { showPage } from '../html/layout.ts'
import { listPages } from '../html/list.ts'
import type { OperatorAudit } from '../operator-audit.store.ts'
import { pages } from '../page.ts'
import { actorOf, type DashboardContext } from '../state.ts'
import { presentCandidates, presentRemoval, REMOVAL_COLUMNS, REMOVAL_WORDS } from './removals.view.ts'

export interface RemovalPagesOptions {
  readonly accounts: Pick<Accounts, 'findNames'>
  readonly removals: Removals
  readonly candidates: RemovalCandidates
  readonly storage: ObjectStorage
  readonly audit: OperatorAudit
}

/** Requests to remove images: the clock, the candidates and, with a reason, their previews; erase or decline. */
export const removalPages = pages<RemovalPagesOptions>([
  ...listPages<RemovalPagesOptions, Removal>({
    path: '/removals',
    menu: 'Removals',
    columns: REMOVAL_COLUMNS,
    filters: [
      { of: 'state', label: 'State', options: REMOVAL_STATES.map((state) => [state, state.toLowerCase()] as const) },
    ],
    open: (_, { removals }) => ({ ...REMOVAL_WORDS, listing: removals.listing }),
  }),
  { route: 'GET /removals/:id', role: 'support', run: showRemoval },
  {
    route: 'POST /removals/:id/images',
    role: 'support',
    done: { 'removal.view': 'The images were shown.' },
    run: showImages,
  },
  change({
    route: 'POST /removals/:id/erase',
    role: 'support',
    action: 'removal.erase',
    message: 'The erasure was started.',
    find: findChosen,
    run: async (within, { id, images, isCut }) => {
      if (!(await createRemovalCandidates(within).assign(id, images, { isCut }))) throw decidedBefore()
      return { images: images.join(' ') }
    },
  }),
  change({
    route: 'POST /removals/:id/decline',
    role: 'support',
    action: 'removal.decline',
    message: 'The request was declined.',
    find: async (ctx, options: RemovalPagesOptions) => ({
      id: (await findRemoval(ctx, options)).id,
      reason: readAnswer(ctx.state.form).answer,
    }),
    run: async (within, { id, reason }) => {
      if (!(await createRemovals(within).decline(id, reason))) throw decidedBefore()
    },
  }),
])

const PREVIEW_SIDE = 240

async function findRemoval(ctx: DashboardContext, { removals }: RemovalPagesOptions): Promise<Removal> {
  const found = await removals.find(ctx.params.id)
  if (found === null) throw new DrapeError('ROUTE_NOT_FOUND', `The removal request ${ctx.params.id} does not exist.`)
  return found
}

async function showRemoval(ctx: DashboardContext, options: RemovalPagesOptions): Promise<void> {
  const removal = await findRemoval(ctx, options)
  const [near, erasures] = await Promise.all([
    options.candidates.find(removal.hashes),
    options.removals.findErasures(removal.id),
  ])
  const names = await options.accounts.findNames([...near.found, ...erasures].map(({ accountId }) => accountId))
  showPage(ctx, {
    title: 'Removal request',
    body: presentRemoval(removal, { ...near, erasures, names, forms: ctx.state.forms }),
  })
}

/** The images show persons: operators must give a reason before they see them. */
async function showImages(ctx: DashboardContext, options: RemovalPagesOptions): Promise<void> {
  const { reason } = readReason(ctx.state.form)
  const { id, hashes } = await findRemoval(ctx, options)
  const { found } = await options.candidates.find(hashes)
  const previews: { id: string; source: string | null }[] = []
  for (const candidate of found) previews.push({ id: candidate.id, source: await readPreview(candidate.key, options) })
  // After the last step that can fail: an audited form has been executed, and is never executed again.
  await options.audit.insert(actorOf(ctx), {
    action: 'removal.view',
    object: id,
    reason,
    details: { images: found.map((candidate) => candidate.id).join(' ') },
  })
  showPage(ctx, { title: 'Images that may match', body: presentCandidates({ id, previews }) })
}

async function readPreview(key: string, { storage }: RemovalPagesOptions): Promise<string | null> {
  const bytes = await storage.get(key)
  if (bytes === null) return null
  const bitmap = await decodeImage(bytes)
  const whole = { x: 0, y: 0, width: bitmap.width, height: bitmap.height }
  return `data:image/jpeg;base64,${(await encodeView(bitmap, whole, PREVIEW_SIDE)).toString('base64')}`
}

/** The images that an operator chose. */
async function findChosen(ctx: DashboardContext, options: RemovalPagesOptions) {
  const { reason } = readReason(ctx.state.form)
  const images = ctx.state.form.getAll('image')
  const { id, hashes } = await findRemoval(ctx, options)
  // Nothing but what the page offers: a form can name any image.
  const { found, isCut } = await options.candidates.find(hashes)
  const offered = new Set(found.map((candidate) => candidate.id))
  if (images.length === 0 || !images.every((one) => offered.has(one))) {
    const message = images.length === 0 ? 'Choose at least one image.' : 'An image was erased or has expired meanwhile.'
    throw new DrapeError('VALIDATION_FAILED', '', { details: [{ path: 'image', message }] })
  }
  return { id, reason, images, isCut }
}

const readAnswer = fieldsReader(Type.Object({ answer: Reason }))

function decidedBefore(): DrapeError {
  return new DrapeError('VALIDATION_FAILED', 'The request was decided before.')
}
