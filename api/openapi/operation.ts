import type { Scope } from '../keys/restrictions.ts'
import type { ErrorCode } from '../shared/errors.ts'
import type { TSchema } from '../shared/schema.ts'

/** The description of one method of one path in the OpenAPI document. */
export interface Operation {
  readonly method: 'get' | 'post' | 'put' | 'delete'
  /** With its parameters in braces: `/tryon/v1/generations/{id}`. */
  readonly path: string
  /** Unique; generated clients name their functions after it. */
  readonly id: string
  /** The group that it is shown in. */
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** What each parameter of the path means. */
  readonly parameters?: Readonly<Record<string, string>>
  readonly query?: ObjectSchema
  /** Headers that it reads beside its credentials, all optional as far as the document can say. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Body
  /** Whether it takes an `Idempotency-Key`. */
  readonly repeatable?: boolean
  /** The account's API key when it is not given. Only what is behind that key has the account's rate limit. */
  readonly access?: Access
  /** Of which the API key needs one; keys without restrictions have all. */
  readonly scopes?: readonly Scope[]
  /** Which answers, by HTTP status, are a page for clients that do not ask for JSON. */
  readonly pages?: readonly number[]
  /** By HTTP status. */
  readonly answers: Readonly<Record<number, Success>>
  /** Those that this operation adds to what every one behind an API key can meet. */
  readonly errors: readonly ErrorCode[]
}

/** `GET /tryon/v1/generations/{id}` */
export function nameOf({ method, path }: Pick<Operation, 'method' | 'path'>): string {
  return `${method.toUpperCase()} ${path}`
}

/** Whether callers need the API key of an account: only those operations have a test mode and the account's rate limit. */
export function isBehindKey({ access = 'key' }: Pick<Operation, 'access'>): boolean {
  return access === 'key'
}

/** `key`: the account's API key; `shop`: signed by the proxy of a shop; `events`: that, or a publishable key; `open`: no credentials. */
export type Access = 'key' | 'shop' | 'events' | 'open'

export type ObjectSchema = TSchema & {
  readonly properties: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
}

/** A JSON body, which may also come as the field `data` of a multipart body beside files; a multipart form; or bare bytes. */
export type Body =
  | {
      readonly json: ObjectSchema
      /** Older shapes of it that are translated before they are validated. Only such a body may also be multipart. */
      readonly legacy?: ObjectSchema
      /** What the body is in other content types, of text. */
      readonly text?: Readonly<Record<string, string>>
    }
  | {
      /** The fields beside the files. */
      readonly form: ObjectSchema
      readonly legacy?: ObjectSchema
      /** What each file is, by the name of its field. */
      readonly files: Readonly<Record<string, string>>
    }
  | {
      /** What the bytes are, which are the whole body. */
      readonly bytes: string
    }

/** What an operation may be sent and may answer. */
export interface OperationExamples {
  /** Of the body, by content type. */
  readonly request?: Readonly<Record<string, unknown>>
  /** By HTTP status, then by name. */
  readonly answers?: Readonly<Record<number, Readonly<Record<string, unknown>>>>
}

export interface Success {
  readonly description: string
  /** Without one the answer has no body. */
  readonly schema?: TSchema
  /** `application/json` when it is not given. */
  readonly contentType?: string
  /** What can be asked next: by operation id, where in the answer each of its parameters is. */
  readonly next?: Readonly<Record<string, Readonly<Record<string, string>>>>
}
