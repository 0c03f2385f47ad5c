import { streamEvents } from '../http/answers/event-stream.ts'
import { reading } from '../http/guards.ts'
import type { OpenResponse } from '../http/limits/open-responses.ts'
import { route } from '../http/route.ts'
import type { AppContext } from '../http/state.ts'
import type { ErrorCode } from '../shared/contract/errors.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { Type } from '../shared/contract/schema.ts'
import type { GenerationRecord, Generations } from '../shared/generations/generations.store.ts'
import { Generation } from './generations.schema.ts'
import type { PresentGeneration } from './generations.view.ts'
import { eventId, type GenerationWatch } from './watch.ts'

export interface GenerationParts {
  readonly generations: Generations
  readonly watch: GenerationWatch
  readonly present: PresentGeneration
  readonly openResponse: OpenResponse
}

/** Maximum of open event streams of an account in each API process. */
const MAX_STREAMS = 500
/** Streams end with their generations. */
const RETRY_SECONDS = 10

const tag = 'Generations'
const parameters = { id: 'The generationId.' }
const errors: readonly ErrorCode[] = ['GENERATION_NOT_FOUND', 'FORBIDDEN']

export const generationRoutes = [
  route({
    method: 'get',
    path: '/tryon/v1/generations/{id}',
    id: 'getGeneration',
    scopes: ['try-on', 'read'],
    tag,
    summary: 'Fetch a generation',
    description: 'Poll the generation every 2 seconds until it is COMPLETED or FAILED, or receive a webhook instead.',
    parameters,
    answers: { 200: { description: 'The current state.', schema: Generation } },
    errors,
    guards: reading,
    handler: getGeneration,
  }),
  route({
    method: 'get',
    path: '/tryon/v1/generations/{id}/events',
    id: 'followGeneration',
    scopes: ['try-on', 'read'],
    tag,
    summary: 'Follow a generation',
    description: `Server-sent events: the current generation and every change, as JSON. The stream closes when the generation has ended. An
account can have ${MAX_STREAMS} open streams; further ones are refused with RATE_LIMITED.`,
    parameters,
    answers: {
      200: {
        description: 'The data of each event is a Generation.',
        schema: Type.String(),
        contentType: 'text/event-stream',
      },
    },
    errors,
    guards: reading,
    handler: getEvents,
  }),
  route({
    method: 'post',
    path: '/tryon/v1/generations/{id}/cancel',
    id: 'cancelGeneration',
    scopes: ['try-on'],
    tag,
    summary: 'Cancel a generation',
    description:
      'The generation fails with `GENERATION_CANCELLED`, and its credits are refunded. A generation that has ended stays unchanged.',
    parameters,
    answers: { 200: { description: 'The current state.', schema: Generation } },
    errors,
    guards: reading,
    handler: postCancel,
  }),
]

interface OneGeneration {
  readonly params: { readonly id: string }
}

async function getGeneration(
  ctx: AppContext,
  { generations, present }: GenerationParts,
  { params }: OneGeneration,
): Promise<Generation> {
  return present(await findOwn(ctx, generations, params.id))
}

async function getEvents(
  ctx: AppContext,
  { generations, watch, present, openResponse }: GenerationParts,
  { params }: OneGeneration,
): Promise<void> {
  const { id, accountId } = await findOwn(ctx, generations, params.id)
  if (!openResponse(ctx.res, [{ id: accountId, max: MAX_STREAMS }])) {
    throw new DrapeError(
      'RATE_LIMITED',
      `The account has ${MAX_STREAMS} open event streams. Close one, or poll the generation.`,
      { retryAfterSeconds: RETRY_SECONDS },
    )
  }
  streamEvents(ctx, async function* (disconnected) {
    for await (const generation of watch.follow(id, disconnected)) {
      yield { id: eventId(generation), data: await present(generation) }
    }
  })
}

async function postCancel(
  ctx: AppContext,
  { generations, present }: GenerationParts,
  { params }: OneGeneration,
): Promise<Generation> {
  const { id } = await findOwn(ctx, generations, params.id)
  const message = 'The generation was cancelled.'
  await generations.fail({ id, attempt: null, code: 'GENERATION_CANCELLED', message })
  return present(await findOwn(ctx, generations, id))
}

const ID = /^gen_[\w-]{1,100}$/

/** Throws `GENERATION_NOT_FOUND`, or `FORBIDDEN` for a generation of another account. */
export async function findOwn({ state }: AppContext, generations: Generations, id: string): Promise<GenerationRecord> {
  const generation = ID.test(id) ? await generations.find(id) : null
  if (!generation) throw new DrapeError('GENERATION_NOT_FOUND', 'The generation does not exist.')
  if (generation.accountId !== state.account.id) {
    throw new DrapeError('FORBIDDEN', 'The generation belongs to another account.')
  }
  return generation
}
