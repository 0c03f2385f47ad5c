import { createHash } from 'node:crypto'
import { Type } from '../../shared/contract/schema.ts'
import { createEncodedBody, type EncodedBody, sendEncoded } from '../answers/encoded-body.ts'
import { route } from '../route.ts'
import type { AppContext } from '../state.ts'

export interface OpenApiParts {
  readonly document: ServedDocument
}

export const openApiRoutes = [
  route({
    method: 'get',
    path: '/tryon/v1/openapi.json',
    id: 'getDocument',
    tag: 'Document',
    summary: 'Fetch this document',
    description: 'For client generators and viewers in browsers. Needs no key and has an ETag.',
    access: 'open',
    answers: {
      200: {
        description: 'OpenAPI 3.1.',
        schema: Type.Object({ openapi: Type.String() }),
        contentType: 'application/json',
      },
      304: { description: 'The document still has the ETag in If-None-Match.' },
    },
    errors: [],
    guards: () => [],
    handler: getDocument,
  }),
]

export interface ServedDocument {
  readonly body: EncodedBody
  readonly etag: string
}

/** The document and its ETag, which is weak because all encodings have the same. */
export function serveDocument(document: object): ServedDocument {
  const text = JSON.stringify(document)
  return { body: createEncodedBody(text), etag: `W/"${createHash('sha256').update(text).digest('base64url')}"` }
}

async function getDocument(ctx: AppContext, { document: { body, etag } }: OpenApiParts): Promise<void> {
  ctx.set('ETag', etag)
  ctx.set('Cache-Control', 'public, max-age=300')
  // Client generators and viewers in browsers fetch it from any origin.
  ctx.set('Access-Control-Allow-Origin', '*')
  ctx.type = 'application/json'
  await sendEncoded(ctx, body)
}
