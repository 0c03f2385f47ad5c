import type { AccountRecord } from '../accounts/accounts.store.ts'
import { readTestWarnings } from '../generations/test-inputs.ts'
import { disconnectSignal } from '../http/answers/disconnect-signal.ts'
import { readUpload } from '../http/bodies/uploaded-file.ts'
import { writing } from '../http/guards.ts'
import { route } from '../http/route.ts'
import type { Translated } from '../http/route-body.ts'
import type { AppContext } from '../http/state.ts'
import { translateUpload } from '../products/legacy.routes.ts'
import { LegacyUploadFields } from '../products/legacy.schema.ts'
import type { Prepared } from '../shared/generations/generation.ts'
import { inField } from '../shared/image/image-field.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import { Upload, UploadFields } from './images.schema.ts'
import type { PersonPhotos } from './person-photos.ts'

export interface ImageParts {
  readonly personPhotos: PersonPhotos
  readonly storage: ObjectStorage
}

/** Lifetime of a preview link in seconds. */
const PREVIEW_SECONDS = 900

export const imageRoutes = [
  route({
    method: 'post',
    path: '/tryon/v1/images/upload',
    id: 'uploadImage',
    scopes: ['try-on'],
    tag: 'Images',
    summary: 'Upload the photo of a person once, for many try-ons',
    description:
      'Send the imageId of the response as person.image.source.id of a try-on. Warnings name the reasons why a try-on with the photo may give a poor result.',
    body: {
      form: UploadFields,
      legacy: LegacyUploadFields,
      translate: translateFields,
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
    guards: writing,
    handler: postUpload,
  }),
]

async function postUpload(
  ctx: AppContext,
  { personPhotos: photos, storage }: ImageParts,
  { body }: { readonly body: UploadFields },
): Promise<Upload> {
  const { account, files } = ctx.state
  const { crop, externalUserId = null, keepForDays = null } = body
  const storing = photos.store(() => readUpload('file', files), {
    imageId: `img_${ctx.state.resourceId}`,
    account,
    externalUserId,
    keepForDays,
    receivedAt: ctx.state.receivedAt,
    cropMode: crop ? 'auto' : 'none',
    mayBeMask: crop && account.testOf === null,
    signal: disconnectSignal(ctx),
  })
  const photo = await inField('file', storing)
  const prepared = crop ? await prepare(photo, { account, externalUserId }, photos) : null
  return {
    imageId: photo.imageId,
    imageUrl: await storage.signedUrl(prepared?.viewKey ?? photo.objectKey, { expiresInSeconds: PREVIEW_SECONDS }),
    ...(crop && prepared === null && { cropPending: true as const }),
    ...(prepared && { crop: prepared.crop, personDetected: prepared.personDetected, warnings: [...prepared.warnings] }),
  }
}

/** Test mode uses no worker: the end user ID selects the findings. */
async function prepare(
  { isMask, ...photo }: Awaited<ReturnType<PersonPhotos['store']>>,
  { account, externalUserId }: { account: AccountRecord; externalUserId: string | null },
  photos: PersonPhotos,
): Promise<Prepared | null> {
  // The caller may mean it as the mask of a photo. As a photo of a person, it is prepared at its first try-on.
  if (account.testOf === null) return isMask ? null : photos.prepare(photo)
  const warnings = readTestWarnings(externalUserId)
  return { viewKey: null, crop: null, personDetected: !warnings.includes('no_person'), warnings }
}

const VALUED_FIELDS = ['crop', 'keepForDays', 'retentionDays']
const FLAGS = new Map([
  ['true', true],
  ['false', false],
  ['1', true],
  ['0', false],
])

/** Values that clients send for an empty form field. */
const NO_VALUE = ['', 'null']

function translateFields(fields: Readonly<Record<string, string>>): Translated {
  return translateUpload(withValues(fields))
}

/**
 * Converts text fields of a form to the types of the schema; `NO_VALUE` counts as absent. Other texts stay unchanged,
 * and the schema rejects them.
 */
function withValues(fields: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name, text]) => !(VALUED_FIELDS.includes(name) && NO_VALUE.includes(text.toLowerCase())))
      .map(([name, text]) => [name, VALUED_FIELDS.includes(name) ? readField(name, text) : text]),
  )
}

function readField(name: string, text: string): unknown {
  if (name === 'crop') return FLAGS.get(text.toLowerCase()) ?? text
  return /^\d+$/.test(text) ? Number(text) : text
}
