import type { Operation } from '../../openapi/operation.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import {
  PreparedUpload,
  ReceivedUpload,
  ShopperPhoto,
  ShopperUploadFields,
  UploadCompleteBody,
  UploadLinkQuery,
} from './uploads.schema.ts'

const tag = 'Storefront'
const badPhoto: readonly ErrorCode[] = [
  'VALIDATION_FAILED',
  'INVALID_IMAGE',
  'UNSUPPORTED_IMAGE_TYPE',
  'FILE_TOO_LARGE',
  'QUOTA_EXCEEDED',
]

export const shopperUploadOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/public/prepare-upload',
    id: 'prepareShopperUpload',
    tag,
    summary: 'Get a link to send a photo to',
    description: `Send nothing. Then \`PUT\` the bytes of the photo to \`uploadUrl\` and call upload-complete. A shopper may begin 10
uploads in 5 minutes, those of upload-image among them.`,
    access: 'shop',
    answers: {
      200: { description: 'The link.', schema: PreparedUpload, next: { completeShopperUpload: {} } },
    },
    errors: ['RATE_LIMIT_EXCEEDED', 'QUOTA_EXCEEDED'],
  },
  {
    method: 'put',
    path: '/public/uploads/{uploadKey}',
    id: 'putShopperUpload',
    tag,
    summary: 'Send the bytes of a photo',
    description: `To the \`uploadUrl\` of prepare-upload as it is: only the link is needed. Sent again, up to 10 times
in 5 minutes, the bytes take the place of those before, until the upload is complete. What never is complete is deleted within the
hour.`,
    access: 'open',
    parameters: { uploadKey: 'As prepare-upload gave it.' },
    query: UploadLinkQuery,
    body: { bytes: 'The photo: JPEG, PNG, WebP or HEIC, at most 10 MB, whatever its Content-Type says.' },
    answers: { 200: { description: 'Received.', schema: ReceivedUpload } },
    errors: [
      'FORBIDDEN',
      'VALIDATION_FAILED',
      'FILE_TOO_LARGE',
      'UPLOAD_NOT_FOUND',
      'RATE_LIMIT_EXCEEDED',
      'SERVICE_UNAVAILABLE',
    ],
  },
  {
    method: 'post',
    path: '/public/upload-complete',
    id: 'completeShopperUpload',
    tag,
    summary: 'Make the bytes that were sent a photo',
    description: `Repeated after success the request gets the same photo. Bytes that are refused as no image are deleted: send other bytes to
the same link. A shopper may send 20 requests in 5 minutes.`,
    access: 'shop',
    body: { json: UploadCompleteBody },
    answers: {
      201: { description: 'Stored.', schema: ShopperPhoto },
      200: { description: 'It was complete already: the same photo again.', schema: ShopperPhoto },
    },
    errors: [...badPhoto, 'UPLOAD_NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
  },
  {
    method: 'post',
    path: '/public/upload-image',
    id: 'uploadShopperImage',
    tag,
    summary: 'Send a photo through the proxy of the shop',
    description: 'For plugins, whose proxies let files through. Counted with prepare-upload.',
    access: 'shop',
    body: {
      form: ShopperUploadFields,
      files: { file: 'The photo: JPEG, PNG, WebP or HEIC, at most 10 MB.' },
    },
    answers: { 201: { description: 'Stored.', schema: ShopperPhoto } },
    errors: [...badPhoto, 'FILE_REQUIRED', 'RATE_LIMIT_EXCEEDED'],
  },
]
