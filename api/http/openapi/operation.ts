import type { Scope } from '../../accounts/restrictions.ts'
import type { ErrorCode } from '../../shared/contract/errors.ts'
import type { TSchema } from '../../shared/contract/schema.ts'

/** An operation (one method of one path) of the OpenAPI document. */
export interface Operation {
  readonly method: 'get' | 'post' | 'put' | 'delete'
  /** Path with parameters in braces: `/tryon/v1/generations/{id}`. */
  readonly path: string
  /** Unique; generated clients name their functions after it. */
  readonly id: string
  /** Group of the operation. */
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** Description of each path parameter. */
  readonly parameters?: Readonly<Record<string, string>>
  readonly query?: ObjectSchema
  /** Request headers other than credentials. The document declares all of them optional. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Body
  /** Whether the operation accepts an `Idempotency-Key`. */
  readonly repeatable?: boolean
  /** Default: the account's API key. Only operations with that key have the account's rate limit. */
  readonly access?: Access
  /** Scopes of which the API key needs one; unrestricted keys have all. */
  readonly scopes?: readonly Scope[]
  /** HTTP statuses that return a page to clients that do not accept JSON. */
  readonly pages?: readonly number[]
  /**
   * Whether large responses are compressed. Not if they contain links or tokens: beside text of an attacker, the length of a compressed
   * response reveals such secrets (BREACH).
   */
  readonly compressed?: boolean
  /** By HTTP status. */
  readonly answers: Readonly<Record<number, Success>>
  /** Error codes in addition to those of all operations with an API key. */
  readonly errors: readonly ErrorCode[]
}

/** `GET /tryon/v1/generations/{id}` */
export function nameOf({ method, path }: Pick<Operation, 'method' | 'path'>): string {
  return `${method.toUpperCase()} ${path}`
}

/**
 * Whether the operation requires the API key of an account. Only these operations have a test mode and the account's
 * rate limit.
 */
export function isBehindKey({ access = 'key' }: Pick<Operation, 'access'>): boolean {
  return access === 'key'
}

/**
 * `key`: the account's API key. `shop`: signature of a shop's proxy. `events`: that, or a publishable key. `open`: no
 * credentials.
 */
export type Access = 'key' | 'shop' | 'events' | 'open'

export type ObjectSchema = TSchema & {
  readonly properties: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
}

/** A JSON body, which may also be the field `data` of a multipart body with files; a multipart form; or raw bytes. */
export type Body =
  | {
      readonly json: ObjectSchema
      /** Older formats that are translated before validation. Such a body may also be multipart. */
      readonly legacy?: ObjectSchema
      /** Whether a body without older formats may be multipart. */
      readonly hasFiles?: boolean
      /** Descriptions of the body in other, text content types. */
      readonly text?: Readonly<Record<string, string>>
    }
  | {
      /** Fields other than files. */
      readonly form: ObjectSchema
      readonly legacy?: ObjectSchema
      /** Description of each file, by field name. */
      readonly files: Readonly<Record<string, string>>
    }
  | {
      /** Description of the bytes, which are the whole body. */
      readonly bytes: string
    }

/** Example requests and responses of an operation. */
export interface OperationExamples {
  /** Example bodies by content type. */
  readonly request?: Readonly<Record<string, unknown>>
  /** By HTTP status, then by name. */
  readonly answers?: Readonly<Record<number, Readonly<Record<string, unknown>>>>
}

export interface Success {
  readonly description: string
  /** Absent: the response has no body. */
  readonly schema?: TSchema
  /** Default `application/json`. */
  readonly contentType?: string
  /** Links to next operations: by operation ID, where in the response each of its parameters is. */
  readonly next?: Readonly<Record<string, Readonly<Record<string, string>>>>
}
