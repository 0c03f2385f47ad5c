import { hangUpOf } from '../../answers/hang-up.ts'
import { readUpload } from '../../bodies/uploaded-file.ts'
import type { PersonPhotos, StoredPhoto } from '../../photos/person-photos.ts'
import type { Prepared } from '../../shared/generation.ts'
import { inField } from '../../shared/image-field.ts'
import type { ObjectStorage } from '../../shared/storage/object.ts'
import type { AppContext } from '../../state.ts'
import type { AccountRecord } from '../../stores/accounts.ts'
import { readTestWarnings } from '../../test-mode/inputs.ts'
import type { Translated } from '../body.ts'
import { route } from '../route.ts'
import { writing } from './guards.ts'
import { Upload, UploadFields } from './images.schema.ts'
import { LegacyUploadFields } from './legacy.schema.ts'
import { translateUpload } from './legacy.ts'

export interface ImageParts {
  readonly personPhotos: PersonPhotos
  readonly storage: ObjectStorage
}

/** Seconds that a preview link works. */
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
      'The answer names the upload; person.image.source.id of a try-on takes it. Warnings say why a try-on of the photo may not go well.',
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
    cropMode: crop ? 'auto' : 'none',
    signal: hangUpOf(ctx),
  })
  const photo = await inField('file', storing)
  const prepared = crop ? await prepare(photo, { account, externalUserId }, photos) : null
  return {
    imageId: photo.imageId,
    imageUrl: await storage.signedUrl(prepared?.viewKey ?? photo.objectKey, { expiresInSeconds: PREVIEW_SECONDS }),
    ...(prepared && { crop: prepared.crop, personDetected: prepared.personDetected, warnings: [...prepared.warnings] }),
  }
}

/** No worker takes part in test mode, where the end user chooses what is found. */
async function prepare(
  photo: StoredPhoto,
  { account, externalUserId }: { account: AccountRecord; externalUserId: string | null },
  photos: PersonPhotos,
): Promise<Prepared | null> {
  if (account.testOf === null) return photos.prepare(photo)
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

/** What clients write into a form field for no value. */
const NO_VALUE = ['', 'null']

function translateFields(fields: Readonly<Record<string, string>>): Translated {
  return translateUpload(withValues(fields))
}

/**
 * Form fields are text: those of another type are read as values, `NO_VALUE` as absent. What cannot be read stays text,
 * for the schema to refuse.
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
