import { createKey } from './client/idempotency-key.ts'
import { describeProduct } from './request-code.js'

/** A preview is shown for a while after its upload; its link works for 15 minutes. */
const PREVIEW_MS = 10 * 60_000

/**
 * One try-on, which may be carried on after it broke: whatever was sent before has the same idempotency key then, so that nothing
 * is made or paid twice.
 */
export function createAttempt({ drape, photo, product, title, category, options }) {
  const { crop = true, ...output } = options
  const keys = { upload: createKey(), tryOn: createKey() }
  const startedAt = performance.now()
  let upload = null
  let accepting = null
  let generationId = null

  const send = async ({ signal, tell }) => {
    tell({ stage: 'upload' })
    upload ??= await uploadOnce(photo.blob, { drape, crop, keepForDays: output.keepForDays, key: keys.upload, signal })
    tell({ stage: 'send' })
    const described = describeProduct({ title, category, source: product.blob })
    const call = { person: { id: upload.imageId }, product: described, output }
    // Not ended with the rest: what the service has by then is to be cancelled, and for that it has to have a name.
    accepting ??= drape.tryOn(call, { idempotencyKey: keys.tryOn })
    accepting.catch(() => {
      accepting = null
    })
    const accepted = await Promise.race([accepting, untilAborted(signal)])
    generationId = accepted.generationId
  }
  return {
    id: () => generationId,
    /** What the picture was made from: the photo as the service sees it, or as it is where the result has its whole frame. */
    beforeUrl: () => (output.fullResolution ? URL.createObjectURL(photo.blob) : (upload?.imageUrl ?? null)),
    /** Ms since it was asked for. */
    elapsed: () => performance.now() - startedAt,
    /** The generation as it ended; null when the service never had one. */
    cancel: async () => {
      const accepted = await accepting?.catch(() => null)
      return accepted ? drape.generations.cancel(accepted.generationId) : null
    },
    /** Goes on from where it stands, until the generation has ended; throws what the client throws. */
    proceed: async ({ signal, tell }) => {
      if (generationId === null) await send({ signal, tell })
      return drape.generations.wait(generationId, {
        signal,
        onProgress: (generation) => tell({ stage: 'wait', generation }),
      })
    },
  }
}

function untilAborted(signal) {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
}

/** Uploads by photo: who tries several products on does not send it again. */
const uploads = new WeakMap()

async function uploadOnce(blob, { drape, crop, keepForDays, key, signal }) {
  const known = uploads.get(blob)
  const isSame = known?.drape === drape && known.crop === crop && known.keepForDays === keepForDays
  if (isSame && known.until > performance.now()) return known.upload
  const upload = await drape.images.upload(blob, { crop, keepForDays, signal, idempotencyKey: key })
  uploads.set(blob, { drape, crop, keepForDays, upload, until: performance.now() + PREVIEW_MS })
  return upload
}

/** What the page sends is not known to the service any more: the next attempt sends it again. */
export function forgetUpload(blob) {
  uploads.delete(blob)
}
