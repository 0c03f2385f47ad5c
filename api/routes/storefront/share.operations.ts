import type { Operation } from '../../openapi/operation.ts'
import { ShareBody, SharedTryOn, ShareLink } from './share.schema.ts'

const tag = 'Storefront'

export const shareOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/public/share-generation',
    id: 'shareGeneration',
    tag,
    summary: 'Make a public link to a result',
    description:
      'Asked again for the same generation and domain it gives the same link. 20 a minute for each address of a shop, 600 a minute for each shop.',
    body: { json: ShareBody },
    access: 'shop',
    answers: {
      200: { description: 'The link that there is.', schema: ShareLink },
      201: {
        description: 'A new link.',
        schema: ShareLink,
        next: { getShare: { token: '$response.body#/shareToken' } },
      },
    },
    errors: [
      'VALIDATION_FAILED',
      'GENERATION_NOT_FOUND',
      'GENERATION_NOT_COMPLETED',
      'SHARE_LINK_GONE',
      'RATE_LIMIT_EXCEEDED',
    ],
  },
  {
    method: 'get',
    path: '/s/{token}',
    id: 'getShare',
    tag,
    summary: 'Open a shared result',
    description:
      'JSON unless `text/html` is preferred, as browsers do; then a page. Pages of any origin may read it. 60 requests a minute for each address.',
    parameters: { token: 'The shareToken.' },
    access: 'open',
    pages: [200, 404, 410, 429],
    answers: { 200: { description: 'What is shared.', schema: SharedTryOn } },
    errors: ['SHARE_LINK_NOT_FOUND', 'SHARE_LINK_GONE', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
  },
]
