import type { ObjectSchema, Body as OperationBody } from '../openapi/operation.ts'
import { DrapeError } from '../shared/errors.ts'
import { compileParser, type Path, type Static } from '../shared/schema.ts'
import type { AppContext } from '../state.ts'

type OperationJson = Extract<OperationBody, { json: unknown }>
type OperationForm = Extract<OperationBody, { form: unknown }>

/** The body of a route: what the document says of it, and how what was sent becomes what its handler gets. */
export type Body = Json | LegacyJson | Form | Extract<OperationBody, { bytes: unknown }>

type Json = OperationJson & {
  readonly legacy?: undefined
  /** A request without a body counts as an empty object. */
  readonly mayBeEmpty?: boolean
}
type LegacyJson = OperationJson & { readonly legacy: ObjectSchema } & Translation<unknown>
type Form = OperationForm & Partial<Translation<AppContext['state']['fields']>>

/** How a body in an older shape, or the text fields of a form, become the current shape. */
export interface Translation<Sent> {
  readonly translate: (sent: Sent) => Translated
  /** Throws for mistakes that have their own code, before the schema is checked. */
  readonly refuse?: (translated: Translated) => void
}

/** A body in the current shape of its route. */
export interface Translated {
  readonly body: unknown
  /** Whether the caller sent a field of an older shape. */
  readonly isDeprecated: boolean
  /**
   * Codes of fields that were ignored: `CUSTOMER_IGNORED` and its like because the new shape of the same field was sent too,
   * `EXTERNAL_USER_ID_IGNORED` because it was sent elsewhere than at the top.
   */
  readonly warnings: readonly string[]
  /** Where the caller wrote what lies at this path of `body`. */
  readonly written: (path: Path) => Path
}

/** Reads the body that the guards have parsed. Throws `VALIDATION_FAILED`, `FILE_REQUIRED` and what `refuse` of the body throws. */
export function createBodyReader(body: Body | undefined): (ctx: AppContext) => object {
  if (body === undefined || 'bytes' in body) return () => ({})
  if ('form' in body) {
    const parse = createTranslatingParser(body.form, { translate: asSent, ...body })
    return (ctx) => {
      assertFiles(ctx, Object.keys(body.files))
      return parse(ctx, ctx.state.fields)
    }
  }
  if (body.legacy) {
    const parse = createTranslatingParser(body.json, body)
    return (ctx) => parse(ctx, ctx.state.body)
  }
  const parse = compileParser(body.json)
  return ({ state }) => ({ body: parse(body.mayBeEmpty ? (state.body ?? {}) : state.body) })
}

/** The day on which version 1.4.0 of the interface replaced the older shapes, in the form of RFC 9745: `@` and Unix seconds. */
const DEPRECATED_SINCE = `@${Date.UTC(2026, 5, 17) / 1000}`

/** Reads what was sent in any shape, and sets the `Deprecation` header on the answer to an older one. */
export function createTranslatingParser<S extends ObjectSchema, Sent>(
  schema: S,
  { translate, refuse }: Translation<Sent>,
): (ctx: AppContext, sent: Sent) => { body: Static<S>; translated: Translated } {
  const parse = compileParser(schema)
  return (ctx, sent) => {
    const translated = translate(sent)
    if (translated.isDeprecated) ctx.set('Deprecation', DEPRECATED_SINCE)
    refuse?.(translated)
    return { body: parse(translated.body, translated.written), translated }
  }
}

function asSent(body: unknown): Translated {
  return { body, isDeprecated: false, warnings: [], written: (path) => path }
}

function assertFiles({ state: { files } }: AppContext, fields: readonly string[]): void {
  for (const name of fields) {
    if (files.some(({ field }) => field === name)) continue
    throw new DrapeError('FILE_REQUIRED', `Send the photo in the multipart field ${name}.`, {
      details: [{ path: name, message: 'is required' }],
    })
  }
}
