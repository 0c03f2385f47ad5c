import type { Operation } from '../../openapi/operation.ts'
import { Type } from '../../shared/schema.ts'

export const openApiOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/tryon/v1/openapi.json',
    id: 'getDocument',
    tag: 'Document',
    summary: 'Fetch this document',
    access: 'open',
    answers: {
      200: { description: 'OpenAPI 3.1.', schema: Type.Object({ openapi: Type.String() }) },
      304: { description: 'It is still the one that If-None-Match names.' },
    },
    errors: [],
  },
]
