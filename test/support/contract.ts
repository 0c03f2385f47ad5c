import { isUtf8 } from 'node:buffer'
import { ERRORS } from '../../api/shared/contract/error-codes.ts'
import { type DocumentedOperation, openDocument } from './openapi-document.ts'

/** A response of the service to a request. */
export interface Observed {
  readonly method: string
  /** Includes the query. */
  readonly path: string
  readonly status: number
  readonly contentType: string | null
  /** Parsed JSON, or null without a body; any other value for a page or an image. */
  readonly body: unknown
}

export interface Contract {
  /** Throws if the document does not list this response. Other paths pass. */
  hold(observed: Observed): void
}

/** The contract of an OpenAPI document. */
export function createContract(document: object): Contract {
  const { operations, compile } = openDocument(document)
  const paths = new Map(operations.map(({ path }) => [path, patternOf(path)]))
  const checks = new Map<string, ReturnType<typeof compile>>()
  const schemaIssues = (operation: DocumentedOperation, { status, contentType, body }: Observed): string | null => {
    const bodies = operation.answers.get(status)?.bodies ?? new Map()
    const type = contentType?.split(';')[0] ?? JSON_TYPE
    if (body !== null && type !== JSON_TYPE) return isDescribed(type, bodies) ? null : `has a body of type ${type}`
    const schema = bodies.get(JSON_TYPE)
    if (schema === undefined) return body === null ? null : 'has a body'
    const key = `${operation.id} ${status}`
    const check = checks.get(key) ?? compile(schema)
    checks.set(key, check)
    return check(body) ? null : (check.errors ?? []).map((e) => `${e.instancePath} ${e.message}`).join('; ')
  }

  function issueOf(observed: Observed): string | null {
    const path = observed.path.split('?')[0]
    const known = operations.filter((operation) => paths.get(operation.path)?.test(path))
    const method = observed.method.toLowerCase()
    if (!isText(observed.path)) return isRefusal(observed) ? null : 'is no refusal of a URL that is not UTF-8'
    const operation = known.find((one) => one.method === (method === 'head' ? 'get' : method))
    if (!operation)
      return isRefusal(observed) || isPreflight(observed) ? null : 'is no refusal of a request that names no operation'
    const answer = operation.answers.get(observed.status)
    if (!answer) return `has a status that ${operation.id} does not have`
    if (method === 'head' || isStream(observed)) return null
    return schemaIssues(operation, observed)
  }

  return {
    hold: (observed) => {
      if (!SURFACES.test(observed.path)) return
      const issue = issueOf(observed)
      if (issue === null) return
      const { method, path, status, body } = observed
      throw new Error(`${method} ${path} → ${status} ${JSON.stringify(body)}: the answer ${issue}`)
    },
  }
}

const JSON_TYPE = 'application/json'

function isDescribed(type: string, bodies: ReadonlyMap<string, unknown>): boolean {
  return bodies.has(type) || bodies.has(`${type.split('/')[0]}/*`)
}

/** Responses that the document lists. */
const SURFACES = /^\/(tryon\/v1|storefront\/v1|public|s|webhooks)\//

/** Routes accept any case, and a trailing slash. */
function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}/?$`)
}

/** Whether the bytes of a path are UTF-8. Clients encode other characters than ASCII as UTF-8. */
function isText(path: string): boolean {
  const sent = path.toWellFormed().replaceAll(/[^\x20-\x7e]+/g, encodeURIComponent)
  const bytes = sent.replaceAll(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
  return isUtf8(Buffer.from(bytes, 'latin1'))
}

function isRefusal({ method, status, body }: Observed): boolean {
  if (method.toUpperCase() === 'HEAD') return [400, 404, 405].includes(status)
  const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown }
  // Invalid URLs are refused before routes are looked up.
  const isKnown = code === 'ROUTE_NOT_FOUND' || code === 'METHOD_NOT_ALLOWED' || code === 'VALIDATION_FAILED'
  return isKnown && ERRORS[code].status === status && typeof message === 'string'
}

/** A preflight request of a browser. The server API allows no cross-origin requests. */
function isPreflight({ method, path, status, body }: Observed): boolean {
  return method.toUpperCase() === 'OPTIONS' && status === 204 && body === null && !path.startsWith('/tryon/')
}

function isStream({ contentType }: Observed): boolean {
  return contentType?.startsWith('text/event-stream') ?? false
}
