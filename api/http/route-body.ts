import { DrapeError } from '../shared/contract/errors.ts'
import { compileParser, type Path, type Static } from '../shared/contract/schema.ts'
import type { ObjectSchema, Body as OperationBody } from './openapi/operation.ts'
import type { AppContext } from './state.ts'

type OperationJson = Extract<OperationBody, { json: unknown }>
type OperationForm = Extract<OperationBody, { form: unknown }>

/** Body of a route: its description in the document, and its conversion for the handler. */
export type Body = Json | TranslatedJson | Form | Extract<OperationBody, { bytes: unknown }>

type Json = OperationJson & {
  readonly translate?: undefined
  /** A request without a body counts as an empty object. */
  readonly mayBeEmpty?: boolean
}
type TranslatedJson = OperationJson & Translation<unknown>
type Form = OperationForm & Partial<Translation<AppContext['state']['fields']>>

/** Converts a body in an older format, or the text fields of a form, to the current format. */
export interface Translation<Sent> {
  readonly translate: (sent: Sent) => Translated
  /** Throws for errors with their own code, before the schema is checked. */
  readonly refuse?: (translated: Translated) => void
}

/** A body in the current format of its route. */
export interface Translated {
  readonly body: unknown
  /** Whether the caller sent a field of an older format. */
  readonly isDeprecated: boolean
  /**
   * Codes of ignored fields: `CUSTOMER_IGNORED` and similar because the newer field was sent too,
   * `EXTERNAL_USER_ID_IGNORED` because the field was not sent at the top level.
   */
  readonly warnings: readonly string[]
  /** Maps a path in `body` to the path that the caller used. */
  readonly written: (path: Path) => Path
}

/** Reads the parsed body. Throws `VALIDATION_FAILED`, `FILE_REQUIRED` and errors of the body's `refuse`. */
export function createBodyReader(body: Body | undefined): (ctx: AppContext) => object {
  if (body === undefined || 'bytes' in body) return () => ({})
  if ('form' in body) {
    const parse = createTranslatingParser(body.form, { translate: asSent, ...body })
    return (ctx) => {
      assertFiles(ctx, Object.keys(body.files))
      assertForm(ctx)
      return parse(ctx, ctx.state.fields)
    }
  }
  if (body.translate) {
    const parse = createTranslatingParser(body.json, body)
    return (ctx) => parse(ctx, ctx.state.body)
  }
  const parse = compileParser(body.json)
  return ({ state }) => ({ body: parse(body.mayBeEmpty ? (state.body ?? {}) : state.body) })
}

/** Day on which version 1.4.0 of the interface replaced the older formats, as in RFC 9745: `@` and Unix seconds. */
const DEPRECATED_SINCE = `@${Date.UTC(2026, 5, 17) / 1000}`

/** Parses all formats, and sets the `Deprecation` header on the response to an older one. */
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

/** Fields in another format are not read, so naming them as missing would mislead. */
function assertForm(ctx: AppContext): void {
  if (ctx.is('multipart')) return
  throw new DrapeError('VALIDATION_FAILED', 'Send the fields as multipart/form-data.', {
    details: [{ path: 'Content-Type', message: 'must be multipart/form-data' }],
  })
}
