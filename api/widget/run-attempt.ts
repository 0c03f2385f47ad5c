import type { Consent } from './consent.ts'
import type { Track } from './events.ts'
import { Failure, failureOf } from './failure.ts'
import { forgetPhoto, type Photo, rememberPhoto } from './photo.ts'
import { forgetGeneration, rememberGeneration } from './running-generation.ts'
import { sendPhoto } from './send-photo.ts'
import type { Look, Settings } from './settings.ts'
import type { Generation, Shop, UploadLink } from './shop.ts'
import { newId } from './visit.ts'

/** A try-on with its progress, so that it can be resumed after any failure. */
export interface Attempt {
  readonly photo: Photo
  /** What is tried on together with the product of the page. */
  readonly look: Look | null
  link: UploadLink | null
  isSent: boolean
  imageId: string | null
  /** As of its photo. */
  viewUrl: string | null
  /** Idempotency key of the request. */
  key: string
  jobId: string | null
  /** Whether the shopper has given up, also while the request is on its way. */
  isCancelled: boolean
}

export interface AttemptOptions {
  readonly shop: Shop
  readonly settings: Settings
  readonly track: Track
  readonly consent: Consent
  /** Gets the response of a CAPTCHA challenge from the page; null when the page has none. */
  readonly solve: () => Promise<string | null>
  readonly signal: AbortSignal
  readonly onSending: (part: number) => void
  readonly onWaiting: (status: 'PENDING' | 'PROCESSING', isOffline: boolean) => void
}

export function createAttempt(photo: Photo, look: Look | null = null): Attempt {
  const { imageId, viewUrl } = photo
  return { photo, look, link: null, isSent: false, imageId, viewUrl, key: newId(), jobId: null, isCancelled: false }
}

/** Runs an attempt from its current stage to its end. Throws a `Failure`; another call resumes the attempt. */
export async function runAttempt(attempt: Attempt, options: AttemptOptions): Promise<Generation> {
  if (attempt.jobId === null) {
    await options.consent.settle(() => options.shop.nameVisitor(options.solve))
    attempt.imageId ??= await upload(attempt, options)
    if (attempt.isCancelled) throw new Failure('GENERATION_CANCELLED')
    attempt.jobId = await ask(attempt, attempt.imageId, options)
    if (attempt.isCancelled) await cancelAttempt(attempt, options)
    else if (attempt.look === null) rememberGeneration(options.settings, attempt.jobId)
  } else options.onWaiting('PROCESSING', false)
  const found = await follow(attempt.jobId, options).catch(failureOf)
  if (!(found instanceof Failure) && found.resultImageUrl !== undefined) return found
  const failure =
    found instanceof Failure ? found : new Failure(found.errorCode ?? 'RESULT_GONE', { appealUrl: found.appealUrl })
  // The generation has ended and was not charged, so the next attempt is a new one. After a network failure the attempt
  // is resumed.
  if (!(found instanceof Failure) || found.code === 'GENERATION_NOT_FOUND') {
    forgetGeneration(options.settings)
    Object.assign(attempt, { jobId: null, key: newId() })
  }
  throw failure
}

/** Ends the attempt, and the generation that it has started or is about to start. */
export async function cancelAttempt(
  attempt: Attempt,
  { shop, settings }: Pick<AttemptOptions, 'shop' | 'settings'>,
): Promise<void> {
  attempt.isCancelled = true
  forgetGeneration(settings)
  // If the request is lost, the generation ends by itself.
  if (attempt.jobId !== null) await shop.cancel(attempt.jobId).catch(failureOf)
}

/** The photo as the service has it. */
interface Uploaded {
  readonly fileId: string
  readonly fileUrl: string
  /** Whether the URL leads to the whole photo. */
  readonly cropPending?: boolean
}

async function upload(attempt: Attempt, options: AttemptOptions): Promise<string> {
  const startedAt = Date.now()
  const { track } = options
  options.onSending(0)
  try {
    await options.shop.nameVisitor(options.solve)
    const send = options.settings.onlyProxy ? sendToProxy : sendToLink
    const { fileId, fileUrl, cropPending = false } = await send(attempt, options)
    attempt.viewUrl = cropPending ? null : fileUrl
    track('widget:image_upload_success', { duration_ms: Date.now() - startedAt })
    rememberPhoto(attempt.photo, { imageId: fileId, viewUrl: attempt.viewUrl })
    return fileId
  } catch (error) {
    track('widget:image_upload_error', { code: failureOf(error).code })
    throw error
  }
}

function sendToProxy({ photo }: Attempt, { shop, onSending, signal }: AttemptOptions): Promise<Uploaded> {
  const body = new FormData()
  body.set('file', photo.file ?? '')
  return sendPhoto({ method: 'POST', url: shop.uploadUrl, headers: shop.headers, body, onProgress: onSending, signal })
}

/** Uploads directly to the service. Sending the bytes or completing the upload again is idempotent. */
async function sendToLink(attempt: Attempt, options: AttemptOptions): Promise<Uploaded> {
  const { shop, onSending, signal } = options
  try {
    attempt.link ??= await shop.prepareUpload()
    const { uploadUrl: url, uploadKey } = attempt.link
    const body = attempt.photo.file ?? new Blob()
    if (!attempt.isSent) await sendPhoto({ method: 'PUT', url, headers: {}, body, onProgress: onSending, signal })
    attempt.isSent = true
    onSending(1)
    return await shop.completeUpload(uploadKey)
  } catch (error) {
    // The link has expired or the bytes are not a photo: the next attempt starts a new upload.
    if (isRefused(error)) Object.assign(attempt, { link: null, isSent: false })
    throw error
  }
}

async function ask(attempt: Attempt, imageId: string, { shop, track, onWaiting }: AttemptOptions): Promise<string> {
  onWaiting('PENDING', false)
  try {
    const { jobId } = await shop.enterFittingRoom(imageId, attempt)
    track('widget:generation_start', { generation_id: jobId })
    return jobId
  } catch (error) {
    if (isRefused(error)) attempt.key = newId()
    if (failureOf(error).code === 'IMAGE_NOT_FOUND') {
      forgetPhoto()
      Object.assign(attempt, { imageId: null, link: null, isSent: false })
    }
    throw error
  }
}

/** A refused request has changed nothing; after a fault or without a response it may have. */
function isRefused(error: unknown): boolean {
  const { code, status } = failureOf(error)
  return status >= 400 && status < 500 && code !== 'IDEMPOTENCY_KEY_IN_USE'
}

const POLL_MS = 2000
/** Consecutive failed polls after which the shopper is asked to retry. */
const MAX_FAILURES = 8

async function follow(jobId: string, { shop, signal, onWaiting }: AttemptOptions): Promise<Generation> {
  for (let failures = 0; ; ) {
    if (signal.aborted) throw new Failure('NETWORK')
    const found = await shop.findGeneration(jobId).catch((error: unknown) => failureOf(error))
    if (found instanceof Failure) {
      const isPassing = found.code === 'NETWORK' || found.status >= 500 || found.status === 429
      if (!isPassing || ++failures >= MAX_FAILURES) throw found
      onWaiting('PROCESSING', true)
    } else {
      failures = 0
      if (found.status === 'COMPLETED' || found.status === 'FAILED') return found
      onWaiting(found.status, false)
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
