import { createKey } from './client/idempotency-key.ts'
import { describeProduct } from './request-code.js'

/** A preview is shown for this time after its upload; its link works for 15 minutes. */
const PREVIEW_MS = 10 * 60_000

/**
 * One try-on, which can be resumed after an error: repeated requests have the same idempotency key, so nothing is
 * created or charged twice.
 */
export function createAttempt({ drape, photo, products, options }) {
  const { crop = true, ...output } = options
  const keys = { upload: createKey(), tryOn: createKey() }
  const startedAt = performance.now()
  let upload = null
  let accepting = null
  let generationId = null

  const send = async ({ signal, onStage }) => {
    onStage({ stage: 'upload' })
    upload ??= await uploadOnce(photo.blob, { drape, crop, keepForDays: output.keepForDays, key: keys.upload, signal })
    onStage({ stage: 'send' })
    const described = products.map(({ image, ...product }) => describeProduct({ ...product, source: image.blob }))
    const call = { person: { id: upload.imageId }, output }
    const repeating = { idempotencyKey: keys.tryOn }
    // Not aborted with the rest: cancelling the generation needs its ID.
    accepting ??=
      described.length > 1
        ? drape.outfit({ ...call, products: described }, repeating)
        : drape.tryOn({ ...call, product: described[0] }, repeating)
    accepting.catch(() => {
      accepting = null
    })
    const accepted = await Promise.race([accepting, untilAborted(signal)])
    generationId = accepted.generationId
  }
  return {
    images: { photo, product: products[0].image },
    id: () => generationId,
    /**
     * The input of the result: the photo as the service crops it, or the original if the result has the whole frame.
     */
    beforeUrl: () => (output.fullResolution ? URL.createObjectURL(photo.blob) : (upload?.imageUrl ?? null)),
    /** Milliseconds since the start. */
    elapsed: () => performance.now() - startedAt,
    /** The generation at its end; null when the service never created one. */
    cancel: async () => {
      const accepted = await accepting?.catch(() => null)
      return accepted ? drape.generations.cancel(accepted.generationId) : null
    },
    /** Continues from the current stage until the generation has ended. Throws the errors of the client. */
    proceed: async ({ signal, onStage }) => {
      if (generationId === null) await send({ signal, onStage })
      return drape.generations.wait(generationId, {
        signal,
        onProgress: (generation) => onStage({ stage: 'wait', generation }),
      })
    },
  }
}

function untilAborted(signal) {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
}

/** Uploads by photo, so that a photo is sent once for several products. */
const uploads = new WeakMap()

async function uploadOnce(blob, { drape, crop, keepForDays, key, signal }) {
  const known = uploads.get(blob)
  const isSame = known?.drape === drape && known.crop === crop && known.keepForDays === keepForDays
  if (isSame && known.until > performance.now()) return known.upload
  const upload = await drape.images.upload(blob, { crop, keepForDays, signal, idempotencyKey: key })
  uploads.set(blob, { drape, crop, keepForDays, upload, until: performance.now() + PREVIEW_MS })
  return upload
}

/** The service no longer has this upload: the next attempt sends it again. */
export function forgetUpload(blob) {
  uploads.delete(blob)
}
