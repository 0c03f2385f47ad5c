import type { Operation } from '../../openapi/operation.ts'
import { Type } from '../../shared/schema.ts'
import { DownloadQuery } from './download.schema.ts'

export const downloadOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/public/download-image',
    id: 'downloadImage',
    tag: 'Storefront',
    summary: 'Save a picture as a file',
    description:
      'For pages in an iframe, where browsers do not save pictures of another origin. 100 a minute for each address of a shop, 3,000 a minute for each shop.',
    query: DownloadQuery,
    access: 'shop',
    answers: {
      200: {
        description: 'The picture: JPEG, PNG or WebP. Content-Disposition names the file.',
        schema: Type.Unsafe<Buffer>({ type: 'string', format: 'binary' }),
        contentType: 'image/*',
      },
    },
    errors: ['VALIDATION_FAILED', 'FORBIDDEN', 'IMAGE_NOT_FOUND', 'RATE_LIMIT_EXCEEDED'],
  },
]
