import type { Operation } from '../../openapi/operation.ts'
import { Upload, UploadFields } from './images.schema.ts'
import { LegacyUploadFields } from './legacy.schema.ts'

export const imageOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/tryon/v1/images/upload',
    id: 'uploadImage',
    scopes: ['try-on'],
    tag: 'Images',
    summary: 'Upload the photo of a person once, for many try-ons',
    body: {
      form: UploadFields,
      legacy: LegacyUploadFields,
      files: { file: 'The photo: JPEG, PNG, WebP or HEIC, at most 10 MB.' },
    },
    repeatable: true,
    answers: { 201: { description: 'Stored.', schema: Upload } },
    errors: [
      'VALIDATION_FAILED',
      'FILE_REQUIRED',
      'INVALID_IMAGE',
      'UNSUPPORTED_IMAGE_TYPE',
      'FILE_TOO_LARGE',
      'QUOTA_EXCEEDED',
    ],
  },
]
