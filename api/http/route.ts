import type { Middleware } from 'koa'
import type { Static, TSchema } from '../shared/contract/schema.ts'
import type { ObjectSchema, Operation, Success } from './openapi/operation.ts'
import { createQueryParser } from './query.ts'
import { type Body, createBodyReader, type Translated } from './route-body.ts'
import type { AppContext, AppState } from './state.ts'

/** Middleware that runs before the request is validated. */
export type Guards = readonly Middleware<AppState>[]

/** One method of one path: its description, guards and handler. `Parts` are the dependencies of the route. */
export interface Route<Parts> extends Operation {
  readonly guards: (parts: Parts) => Guards
  readonly answer: (ctx: AppContext, parts: Parts) => Promise<void>
}

type Answers = Readonly<Record<number, Success>>

type ParameterOf<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParameterOf<Rest> : never

type Parameters<Path> = [ParameterOf<Path>] extends [never]
  ? { readonly parameters?: undefined }
  : { readonly parameters: Readonly<Record<ParameterOf<Path>, string>> }

/** A validated request with the types of its schemas. */
interface Input<Path, B, Q, Own> {
  readonly params: Readonly<Record<ParameterOf<Path>, string>>
  readonly query: Own extends 'query' ? AppContext['query'] : Q extends TSchema ? Static<Q> : undefined
  readonly body: Own extends 'body'
    ? unknown
    : B extends { json: infer S extends TSchema } | { form: infer S extends TSchema }
      ? Static<S>
      : undefined
  readonly translated: B extends { translate: unknown } ? Translated : undefined
}

/** Body of the response; void without a body, undefined when the handler has written a response itself. */
type AnswerOf<A> = {
  [Status in keyof A]: A[Status] extends { schema: TSchema; contentType: string }
    ? Promise<void>
    : A[Status] extends { schema: infer S extends TSchema }
      ? Promise<Static<S> | undefined>
      : Promise<void>
}[keyof A]

type Declaration<Path extends string, B, Q, A, Own, G, H> = Omit<
  Operation,
  'path' | 'parameters' | 'body' | 'query' | 'answers'
> & {
  /** Path with parameters in braces: `/tryon/v1/generations/{id}`. */
  readonly path: Path
  readonly body?: B
  readonly query?: Q
  readonly answers: A
  /** Parts of the request that guards or the handler validate themselves, because their errors differ. */
  readonly ownCheck?: Own
  readonly guards: (parts: G) => Guards
  /** Sets the status if the route declares several; otherwise the declared status is used. */
  readonly handler: (ctx: AppContext, parts: H, input: Input<Path, B, Q, Own>) => AnswerOf<A>
} & Parameters<Path>

/** Creates a route from its declaration. The router and the OpenAPI document use the same object. */
export function route<
  const Path extends string,
  A extends Answers,
  G,
  H,
  B extends Body | undefined = undefined,
  Q extends ObjectSchema | undefined = undefined,
  Own extends 'body' | 'query' | undefined = undefined,
>(declaration: Declaration<Path, B, Q, A, Own, G, H>): Route<G & H> {
  const { handler, ownCheck, ...operation } = declaration
  const readBody = ownCheck === 'body' ? rawBody : createBodyReader(operation.body)
  const readQuery = createQueryReader(ownCheck === 'query' ? undefined : operation.query)
  const status = statusOf(operation.answers)
  return {
    ...operation,
    answer: async (ctx, parts) => {
      const input = { params: ctx.params, query: readQuery(ctx), ...readBody(ctx) } as Input<Path, B, Q, Own>
      const body = await handler(ctx, parts, input)
      if (status === 204) ctx.status = status
      if (body === undefined) return
      if (status !== null) ctx.status = status
      ctx.body = body
    },
  }
}

function rawBody({ state: { body } }: AppContext): object {
  return { body }
}

/** Without a schema, returns the query unchanged. */
function createQueryReader(schema: ObjectSchema | undefined): (ctx: AppContext) => unknown {
  return schema === undefined ? ({ query }) => query : createQueryParser(schema)
}

/** The success status if the route declares exactly one. */
function statusOf(answers: Answers): number | null {
  const [status, ...others] = Object.keys(answers).filter((known) => known < '300')
  return others.length === 0 ? Number(status) : null
}
