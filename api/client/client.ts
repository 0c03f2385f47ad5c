import { isApiError } from './api-error.ts'
import { type ConnectionOptions, createConnection } from './connection.ts'
import { type FileInput, readFileInput } from './file-input.ts'
import { type CompletedGeneration, type WaitOptions, waitForGeneration } from './generation-wait.ts'
import { withIdempotencyKey } from './idempotency-key.ts'
import { createProducts, type ProductCalls } from './products.ts'
import type { CallOptions, WriteOptions } from './request.ts'
import type {
  AcceptedOutfit,
  AcceptedTryOn,
  Account,
  Analytics,
  AnalyticsQuery,
  Appeal,
  Credits,
  EngineList,
  Generation,
  Upload,
  UploadForm,
} from './schemas.ts'
import { describeOutfit, describeTryOn, type OutfitInput, type TryOnInput } from './try-on-body.ts'

export type UploadOptions = Pick<UploadForm, 'crop' | 'externalUserId' | 'keepForDays'> & WriteOptions

/** Promise of the accepted try-on, with methods to wait for its result. */
export interface TryOnCall extends Promise<AcceptedTryOn> {
  wait(options?: WaitOptions): Promise<CompletedGeneration & { productExternalId: string }>
}

/** Promise of the accepted outfit, with methods to wait for its result. */
export interface OutfitCall extends Promise<AcceptedOutfit> {
  wait(options?: WaitOptions): Promise<CompletedGeneration>
}

/**
 * Client of the server API. Methods throw `DrapeApiError` for an error response, `DrapeConnectionError` or
 * `DrapeTimeoutError` without a response, and the reason of `signal` when it is aborted. Retries transient errors as
 * the service requests, idempotently: a retry creates or charges nothing twice. Follows no redirect.
 */
export interface DrapeClient {
  /** Creates a generation of the person wearing the product: `await drape.tryOn({ person, product }).wait()`. */
  tryOn(input: TryOnInput, options?: WriteOptions): TryOnCall
  /** Creates one generation of the person wearing 2 to 4 products: `await drape.outfit({ person, products }).wait()`. */
  outfit(input: OutfitInput, options?: WriteOptions): OutfitCall
  readonly images: {
    /** Stores the photo of a person. Use its `imageId` in any number of try-ons. */
    upload(file: FileInput, options?: UploadOptions): Promise<Upload>
  }
  readonly generations: {
    get(id: string, options?: CallOptions): Promise<Generation>
    /** Resolves when the generation has completed; see `TryOnCall.wait`. */
    wait(id: string, options?: WaitOptions): Promise<CompletedGeneration>
    /**
     * Cancels the generation: it fails with `GENERATION_CANCELLED`, and its credits are refunded. A generation that has
     * ended stays unchanged.
     */
    cancel(id: string, options?: CallOptions): Promise<Generation>
    /**
     * Appeals the refusal by a safety check, free of charge; an operator decides. Another `reason` replaces that of an open appeal of the
     * account. Throws `VALIDATION_FAILED` when no safety check refused the generation.
     */
    appeal(id: string, reason: string, options?: CallOptions): Promise<Appeal>
    /** The appeal with the decision; null if the refusal has no appeal. */
    findAppeal(id: string, options?: CallOptions): Promise<Appeal | null>
    /** The result image of a completed generation; null before completion and after expiry. */
    download(id: string, options?: CallOptions): Promise<Blob | null>
  }
  readonly products: ProductCalls
  readonly account: {
    get(options?: CallOptions): Promise<Account>
    credits(options?: CallOptions): Promise<Credits>
  }
  readonly analytics: {
    /** Funnel, conversion and e-mail collection of the days from `from` to `to` (UTC). */
    get(options?: AnalyticsQuery & CallOptions): Promise<Analytics>
  }
  readonly engines: {
    /** Engines of the installation. `output.engine` of a try-on takes their names. */
    list(options?: CallOptions): Promise<EngineList>
  }
  readonly customers: {
    /**
     * Deletes all photos and results of an end user, and what shops stored of them. `id`: the `externalUserId` that calls
     * sent, the customer ID of a shop's platform, or an anonymous ID.
     */
    erase(id: string, options?: CallOptions): Promise<void>
  }
}

/**
 * Creates a client of the service at `url`. Runs in Node, browsers and any other environment with `fetch`. Throws a TypeError when
 * `url` is not an http or https URL, or `apiKey` not a key.
 */
export function createDrapeClient(options: ConnectionOptions): DrapeClient {
  const connection = createConnection(options)
  const { call } = connection
  const waitFor = async (accepted: Promise<{ readonly generationId: string }>, options: WaitOptions) =>
    waitForGeneration(connection, (await accepted).generationId, options)
  return {
    tryOn: (input, options = {}) => {
      const accepted = describeTryOn(input).then((body) =>
        call<AcceptedTryOn>({ method: 'POST', path: ['try-on'], body, ...withIdempotencyKey(options) }),
      )
      const wait = async (waiting: WaitOptions = {}) => {
        const generation = await waitFor(accepted, { signal: options.signal, ...waiting })
        return { ...generation, productExternalId: (await accepted).productExternalId }
      }
      return Object.assign(accepted, { wait })
    },
    outfit: (input, options = {}) => {
      const accepted = describeOutfit(input).then((body) =>
        call<AcceptedOutfit>({ method: 'POST', path: ['outfits'], body, ...withIdempotencyKey(options) }),
      )
      const wait = (waiting: WaitOptions = {}) => waitFor(accepted, { signal: options.signal, ...waiting })
      return Object.assign(accepted, { wait })
    },
    images: {
      upload: async (file, { signal, idempotencyKey, ...fields } = {}) => {
        const body = new FormData()
        for (const [name, value] of Object.entries(fields)) if (value !== undefined) body.set(name, String(value))
        body.set('file', await readFileInput(file), 'file')
        return call({
          method: 'POST',
          path: ['images', 'upload'],
          body,
          ...withIdempotencyKey({ signal, idempotencyKey }),
        })
      },
    },
    generations: {
      get: (id, { signal } = {}) => call({ method: 'GET', path: ['generations', id], signal }),
      wait: (id, options = {}) => waitForGeneration(connection, id, options),
      cancel: (id, { signal } = {}) => call({ method: 'POST', path: ['generations', id, 'cancel'], signal }),
      appeal: (id, reason, { signal } = {}) =>
        call({ method: 'POST', path: ['generations', id, 'appeal'], body: { reason }, signal }),
      findAppeal: (id, { signal } = {}) =>
        call<Appeal>({ method: 'GET', path: ['generations', id, 'appeal'], signal }).catch((error: unknown) => {
          if (isApiError(error, 'APPEAL_NOT_FOUND')) return null
          throw error
        }),
      download: async (id, { signal } = {}) => {
        const { resultImageUrl } = await call<Generation>({ method: 'GET', path: ['generations', id], signal })
        return resultImageUrl ? connection.download(resultImageUrl, { signal }) : null
      },
    },
    products: createProducts(connection),
    account: {
      get: ({ signal } = {}) => call({ method: 'GET', path: ['account'], signal }),
      credits: ({ signal } = {}) => call({ method: 'GET', path: ['account', 'credits'], signal }),
    },
    analytics: {
      get: ({ signal, ...query } = {}) => call({ method: 'GET', path: ['analytics'], query, signal }),
    },
    engines: {
      list: ({ signal } = {}) => call({ method: 'GET', path: ['engines'], signal }),
    },
    customers: {
      erase: (id, { signal } = {}) => call({ method: 'DELETE', path: ['customers', id], signal }),
    },
  }
}
