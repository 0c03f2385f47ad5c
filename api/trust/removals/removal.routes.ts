import { createHash } from 'node:crypto'
import type { Middleware } from 'koa'
import { v7 as uuidv7 } from 'uuid'
import { pageHeaders } from '../../http/answers/public-page.ts'
import { readUpload } from '../../http/bodies/uploaded-file.ts'
import { refuseByPage, wantsPage } from '../../http/middleware/refuse-by-page.ts'
import { route } from '../../http/route.ts'
import type { AppContext, AppState } from '../../http/state.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import { inField } from '../../shared/image/image-field.ts'
import { randomBase62 } from '../../shared/process/base62.ts'
import type { Budgets } from '../../shops/limit-public-routes.ts'
import { chooseLanguage, pageLanguages } from '../../shops/page-language.ts'
import { describeBudget } from '../../shops/public-rate-limits.ts'
import { hashAddress } from '../../shops/shopper.ts'
import { hashRequest } from './hash-request.ts'
import { RemovalFields, RemovalStatusAnswer } from './removal.schema.ts'
import { presentRemovalForm, presentRemovalRefusal, presentRemovalState, REMOVAL_TEXTS } from './removal.view.ts'
import type { Removals } from './removals.store.ts'

export interface RemovalParts {
  readonly removals: Pick<Removals, 'insert' | 'findState'>
  readonly budgets: Budgets
  readonly signingSecret: string
  readonly serviceName: string
}

interface RemovalGuards {
  readonly budgets: Budgets
  readonly serviceName: string
  /** Parses the form and its file. */
  readonly parseRemoval: Middleware<AppState>
}

const REFERENCE_DIGITS = 22
const setHeaders = pageHeaders({ vary: 'Accept, Accept-Language', cacheControl: 'no-store', formAction: "'self'" })
const refuse = (serviceName: string) =>
  refuseByPage({
    present: (code, ctx) => {
      const entered = ctx.state.fields ?? {}
      return presentRemovalRefusal(code, { ...pageOf(ctx, serviceName), reference: newReference(), entered })
    },
  })
const reading = ({ budgets, serviceName }: RemovalGuards) => [
  setHeaders,
  refuse(serviceName),
  budgets.limit('removal-page'),
]

/** Public routes for people who want an image of themselves removed. */
export const removalRoutes = [
  route({
    method: 'get',
    path: '/removal',
    id: 'getRemovalPage',
    tag: 'Storefront',
    summary: 'Open the page that asks for the removal of an image',
    description: `A page with a form for \`POST /removal\`, for people who are not customers. ${describeBudget('removal-page')}`,
    access: 'open',
    pages: [429],
    answers: { 200: { description: 'The page.', schema: Type.String(), contentType: 'text/html' } },
    errors: ['RATE_LIMIT_EXCEEDED'],
    guards: reading,
    handler: getForm,
  }),
  route({
    method: 'post',
    path: '/removal',
    id: 'requestRemoval',
    tag: 'Storefront',
    summary: 'Ask for the removal of an image',
    description: `For people who appear in an image that someone else created. Only perceptual hashes of the sent image are stored. The answer
does not depend on whether a copy is stored: operators decide, within 48 hours. JSON unless \`text/html\` is preferred; then a page. ${describeBudget('removal')}
For requests that are stored: ${describeBudget('removal-store')}`,
    access: 'open',
    pages: [200, 400, 413, 415, 429],
    body: {
      form: RemovalFields,
      files: { file: 'Your photo, or the image that you saw: JPEG, PNG, WebP or HEIC, at most 10 MB.' },
    },
    answers: { 200: { description: 'The request, with its reference number.', schema: RemovalStatusAnswer } },
    errors: [
      ...(['VALIDATION_FAILED', 'FILE_REQUIRED', 'FILE_TOO_LARGE', 'INVALID_IMAGE', 'UNSUPPORTED_IMAGE_TYPE'] as const),
      ...(['RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'] as const),
    ],
    guards: ({ budgets, serviceName, parseRemoval }: RemovalGuards) => [
      setHeaders,
      refuse(serviceName),
      budgets.limit('removal'),
      parseRemoval,
    ],
    handler: postRequest,
  }),
  route({
    method: 'get',
    path: '/removal/{reference}',
    id: 'getRemovalRequest',
    tag: 'Storefront',
    summary: 'Get the state of a removal request',
    description:
      'JSON unless `text/html` is preferred; then a page. Kept for 90 days after the decision. ' +
      describeBudget('removal-page'),
    parameters: { reference: 'Reference number of the request.' },
    access: 'open',
    pages: [200, 404, 429],
    answers: { 200: { description: 'The state of the request.', schema: RemovalStatusAnswer } },
    errors: ['ROUTE_NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    guards: reading,
    handler: getState,
  }),
]

async function getForm(ctx: AppContext, { serviceName }: RemovalParts): Promise<void> {
  ctx.type = 'html'
  ctx.body = presentRemovalForm({ ...pageOf(ctx, serviceName), reference: newReference() })
}

function newReference(): string {
  return randomBase62(REFERENCE_DIGITS)
}

function pageOf(ctx: AppContext, serviceName: string): { serviceName: string; language: string } {
  return { serviceName, language: chooseLanguage(pageLanguages(ctx), REMOVAL_TEXTS) }
}

async function postRequest(
  ctx: AppContext,
  parts: RemovalParts,
  { body }: { readonly body: RemovalFields },
): Promise<RemovalStatusAnswer | undefined> {
  const { email, reason, reference = newReference() } = body
  const file = () => readUpload('file', ctx.state.files)
  const hashes = await inField(
    'file',
    hashRequest(file, { owner: `removal:${hashAddress(ctx.ip, parts.signingSecret)}` }),
  )
  if (hashes.length === 0)
    throw new DrapeError('INVALID_IMAGE', 'The image shows too little to be found again. Send a photo with a person.')
  // What cannot be stored must not shut out people.
  await parts.budgets.spend(ctx, 'removal-store')
  const request = { id: `rem_${uuidv7()}`, reference: hashReference(reference), email, reason, hashes }
  if (!(await parts.removals.insert(request)))
    throw new DrapeError('VALIDATION_FAILED', 'The reference number has been used. Open the page again.')
  return answerState(ctx, reference, parts)
}

async function getState(
  ctx: AppContext,
  parts: RemovalParts,
  { params: { reference } }: { readonly params: { readonly reference: string } },
): Promise<RemovalStatusAnswer | undefined> {
  return answerState(ctx, reference, parts)
}

async function answerState(
  ctx: AppContext,
  reference: string,
  { removals, serviceName }: RemovalParts,
): Promise<RemovalStatusAnswer | undefined> {
  const found = await removals.findState(hashReference(reference))
  if (found === null) throw new DrapeError('ROUTE_NOT_FOUND', 'No removal request has this reference number.')
  const { state, answer, createdAt, dueAt, decidedAt } = found
  if (!wantsPage(ctx)) {
    const times = {
      createdAt: createdAt.toISOString(),
      dueAt: dueAt.toISOString(),
      decidedAt: decidedAt?.toISOString() ?? null,
    }
    return { reference, state, answer, ...times }
  }
  ctx.type = 'html'
  ctx.body = presentRemovalState({ ...found, reference, ...pageOf(ctx, serviceName) })
  return undefined
}

/** Reference numbers are stored as hashes: a copy of the database opens no request. */
function hashReference(reference: string): string {
  return createHash('sha256').update(reference).digest('hex')
}
