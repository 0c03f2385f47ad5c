import { createHash } from 'node:crypto'
import { DrapeError } from './shared/errors.ts'
import { type Bitmap, decodeImage, encodeImage, resizeBitmap } from './shared/image.ts'
import type { ObjectStorage } from './shared/storage/object.ts'
import type { Objects } from './shared/stores/objects.ts'
import type { Accounts } from './stores/accounts.ts'
import type { Logos } from './stores/logos.ts'

export interface LogoParts {
  readonly accounts: Pick<Accounts, 'find'>
  readonly logos: Logos
  readonly objects: Pick<Objects, 'insert'>
  readonly storage: ObjectStorage
}

const LONGEST_SIDE = 1000
/** An upload that was given up half way is swept after this time. */
const UPLOAD_MS = 3_600_000

/**
 * Stores a picture as the account's logo, which results show from the next accepted generation on. Returns its key.
 * Throws `ACCOUNT_NOT_FOUND`, `INVALID_IMAGE` or `UNSUPPORTED_IMAGE_TYPE`.
 */
export async function setLogo(
  { accountId, file }: { accountId: string; file: Uint8Array },
  { accounts, logos, objects, storage }: LogoParts,
): Promise<string> {
  if (!(await accounts.find(accountId))) {
    throw new DrapeError('ACCOUNT_NOT_FOUND', `There is no account ${accountId}.`)
  }
  const png = await encodeImage(await shrink(await decodeImage(file)), { format: 'png' })
  const key = `logos/${accountId}/${createHash('sha256').update(png).digest('hex')}.png`
  const expiresAt = new Date(Date.now() + UPLOAD_MS)
  await objects.insert({ key, accountId, externalUserId: null, kind: 'logo', bytes: png.byteLength, expiresAt })
  await storage.put(key, png, { contentType: 'image/png' })
  await logos.replace({ accountId, key })
  return key
}

async function shrink(logo: Bitmap): Promise<Bitmap> {
  return Math.max(logo.width, logo.height) > LONGEST_SIDE ? resizeBitmap(logo, { longest: LONGEST_SIDE }) : logo
}
