import { createHash } from 'node:crypto'
import type { Accounts } from '../accounts/accounts.store.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { type Bitmap, decodeImage, encodeImage, resizeBitmap } from '../shared/image/image.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import type { Objects } from '../shared/storage/objects.store.ts'

export interface LogoParts {
  readonly accounts: Pick<Accounts, 'find'>
  readonly objects: Pick<Objects, 'insert'>
  readonly storage: ObjectStorage
}

const MAX_SIDE = 1000
/** Lifetime of an uploaded image that no account uses as its logo. */
const UPLOAD_MS = 3_600_000

/**
 * Stores an image that can become the account's logo (`createLogos`) within the next hour. Returns its key. Throws
 * `ACCOUNT_NOT_FOUND`, `INVALID_IMAGE` or `UNSUPPORTED_IMAGE_TYPE`.
 */
export async function storeLogo(
  { accountId, file }: { accountId: string; file: Uint8Array },
  { accounts, objects, storage }: LogoParts,
): Promise<string> {
  if (!(await accounts.find(accountId))) {
    throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${accountId} does not exist.`)
  }
  const png = await encodeImage(await shrink(await decodeImage(file)), { format: 'png' })
  const key = `logos/${accountId}/${createHash('sha256').update(png).digest('hex')}.png`
  const expiresAt = new Date(Date.now() + UPLOAD_MS)
  await objects.insert({ key, accountId, externalUserId: null, kind: 'logo', bytes: png.byteLength, expiresAt })
  await storage.put(key, png, { contentType: 'image/png' })
  return key
}

async function shrink(logo: Bitmap): Promise<Bitmap> {
  return Math.max(logo.width, logo.height) > MAX_SIDE ? resizeBitmap(logo, { longest: MAX_SIDE }) : logo
}
