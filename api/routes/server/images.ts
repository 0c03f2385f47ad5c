import Router from '@koa/router'
import type { Middleware } from 'koa'
import { hangUpOf } from '../../answers/hang-up.ts'
import { readUpload } from '../../bodies/uploaded-file.ts'
import type { PersonPhotos, StoredPhoto } from '../../photos/person-photos.ts'
import { DrapeError } from '../../shared/errors.ts'
import type { Prepared } from '../../shared/generation.ts'
import { inField } from '../../shared/image-field.ts'
import { compileParser } from '../../shared/schema.ts'
import type { ObjectStorage } from '../../shared/storage/object.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { AccountRecord } from '../../stores/accounts.ts'
import { readTestWarnings } from '../../test-mode/inputs.ts'
import { markDeprecated } from './deprecation.ts'
import { UploadFields } from './images.schema.ts'
import { translateUpload } from './legacy.ts'

export interface ImagesOptions {
  readonly guards: readonly Middleware<AppState>[]
  readonly photos: PersonPhotos
  readonly storage: ObjectStorage
}

/** Seconds that a preview link works. */
const PREVIEW_SECONDS = 900

const parseFields = compileParser(UploadFields)

/** POST /images/upload */
export function imageRoutes(options: ImagesOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/tryon/v1', sensitive: true })
  router.post('/images/upload', ...(options.guards as never[]), (ctx: AppContext) => postUpload(ctx, options))
  return router
}

async function postUpload(ctx: AppContext, { photos, storage }: ImagesOptions): Promise<void> {
  const { account, files, fields } = ctx.state
  if (!files.some(({ field }) => field === 'file')) {
    throw new DrapeError('FILE_REQUIRED', 'Send the photo in the multipart field file.', {
      details: [{ path: 'file', message: 'is required' }],
    })
  }
  const translation = translateUpload(withValues(fields))
  const { body, written } = translation
  markDeprecated(ctx, translation)
  const { crop, externalUserId = null, keepForDays = null } = parseFields(body, written)
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
  ctx.status = 201
  ctx.body = {
    imageId: photo.imageId,
    imageUrl: await storage.signedUrl(prepared?.viewKey ?? photo.objectKey, { expiresInSeconds: PREVIEW_SECONDS }),
    ...(prepared && { crop: prepared.crop, personDetected: prepared.personDetected, warnings: prepared.warnings }),
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
