import { type CallOptions, type ConnectionOptions, createConnection, type WriteOptions } from './connection.ts'
import { type FileInput, readFileInput } from './file-input.ts'
import { type CompletedGeneration, generationPath, type WaitOptions, waitForGeneration } from './generation-wait.ts'
import { keyed } from './idempotency-key.ts'
import { createProducts, type ProductCalls } from './products.ts'
import type { AcceptedTryOn, Account, Credits, EngineList, Generation, Upload, UploadForm } from './schemas.ts'
import { describeTryOn, type TryOnInput } from './try-on-body.ts'

export type UploadOptions = Pick<UploadForm, 'crop' | 'externalUserId' | 'keepForDays'> & WriteOptions

/** The promise of what the service said when it took the try-on, and the way to its end. */
export interface TryOnCall extends Promise<AcceptedTryOn> {
  wait(options?: WaitOptions): Promise<CompletedGeneration & { productExternalId: string }>
}

/**
 * The server API. Calls throw `DrapeApiError` when the service refuses, `DrapeConnectionError` and `DrapeTimeoutError` when there
 * is no answer, and the reason of `signal` when it is aborted. What may succeed later is tried again, as the service asks;
 * nothing is made or charged twice by that.
 */
export interface DrapeClient {
  /** Asks for a picture of the person wearing the product: `await drape.tryOn({ person, product }).wait()`. */
  tryOn(input: TryOnInput, options?: WriteOptions): TryOnCall
  readonly images: {
    /** Stores the photo of a person; its `imageId` goes into any number of try-ons. */
    upload(file: FileInput, options?: UploadOptions): Promise<Upload>
  }
  readonly generations: {
    get(id: string, options?: CallOptions): Promise<Generation>
    /** Resolves when it has completed; see `TryOnCall.wait`. */
    wait(id: string, options?: WaitOptions): Promise<CompletedGeneration>
    /** It fails with `GENERATION_CANCELLED` and its credit comes back; one that has ended stays as it is. */
    cancel(id: string, options?: CallOptions): Promise<Generation>
    /** The picture of a completed generation; null while there is none, and when its time is over. */
    download(id: string, options?: CallOptions): Promise<Blob | null>
  }
  readonly products: ProductCalls
  readonly account: {
    get(options?: CallOptions): Promise<Account>
    credits(options?: CallOptions): Promise<Credits>
  }
  readonly engines: {
    /** The engines of the installation; `output.engine` of a try-on takes their names. */
    list(options?: CallOptions): Promise<EngineList>
  }
  readonly customers: {
    /** Deletes every photo and picture of an end user, whom calls named as `externalUserId`. */
    erase(externalUserId: string, options?: CallOptions): Promise<void>
  }
}

/** A client for the service at `url`; runs in Node, in browsers and wherever else there is `fetch`. */
export function createDrapeClient(options: ConnectionOptions): DrapeClient {
  const connection = createConnection(options)
  const { call } = connection
  return {
    tryOn: (input, options = {}) => {
      const accepted = describeTryOn(input).then((body) =>
        call<AcceptedTryOn>({ method: 'POST', path: '/tryon/v1/try-on', body, ...keyed(options) }),
      )
      const wait = async (waiting: WaitOptions = {}) => {
        const { generationId, productExternalId } = await accepted
        const generation = await waitForGeneration(connection, generationId, { signal: options.signal, ...waiting })
        return { ...generation, productExternalId }
      }
      return Object.assign(accepted, { wait })
    },
    images: {
      upload: async (file, { signal, idempotencyKey, ...fields } = {}) => {
        const body = new FormData()
        for (const [name, value] of Object.entries(fields)) if (value !== undefined) body.set(name, String(value))
        body.set('file', await readFileInput(file), 'file')
        return call({ method: 'POST', path: '/tryon/v1/images/upload', body, ...keyed({ signal, idempotencyKey }) })
      },
    },
    generations: {
      get: (id, { signal } = {}) => call({ method: 'GET', path: generationPath(id), signal }),
      wait: (id, options = {}) => waitForGeneration(connection, id, options),
      cancel: (id, { signal } = {}) => call({ method: 'POST', path: generationPath(id, '/cancel'), signal }),
      download: async (id, { signal } = {}) => {
        const { resultImageUrl } = await call<Generation>({ method: 'GET', path: generationPath(id), signal })
        return resultImageUrl ? connection.download(resultImageUrl, { signal }) : null
      },
    },
    products: createProducts(connection),
    account: {
      get: ({ signal } = {}) => call({ method: 'GET', path: '/tryon/v1/account', signal }),
      credits: ({ signal } = {}) => call({ method: 'GET', path: '/tryon/v1/account/credits', signal }),
    },
    engines: {
      list: ({ signal } = {}) => call({ method: 'GET', path: '/tryon/v1/engines', signal }),
    },
    customers: {
      erase: (id, { signal } = {}) =>
        call({ method: 'DELETE', path: `/tryon/v1/customers/${encodeURIComponent(id)}`, signal }),
    },
  }
}
