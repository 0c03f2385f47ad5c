import { toJson } from '../client/json.ts'
import type { Track } from './events.ts'
import { Failure } from './failure.ts'
import type { Look, Settings } from './settings.ts'
import { recall, remember } from './visit.ts'

export interface Generation {
  readonly generationId: string
  readonly status: 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'FAILED'
  /** Absent until the generation is completed, and once its image has expired or was erased. */
  readonly resultImageUrl?: string
  readonly errorCode: string | null
  /** Absent from services of an older version. */
  readonly appealUrl?: string | null
}

export interface UploadLink {
  readonly uploadUrl: string
  readonly uploadKey: string
}

/** Whether the shop can offer try-ons; with a holdout, whether this visitor is in it. */
export interface Offer {
  readonly allowed: boolean
  /** Whether it can make outfits. Absent from services of an older version. */
  readonly outfits?: boolean
  readonly holdout?: boolean
}

interface Visitor {
  readonly visitorToken: string
  readonly expiresAt: string
}

/** The policy, and whether the visitor has agreed to it. */
export interface ConsentNotice {
  readonly required: boolean
  readonly policy: string
  readonly version: string
  readonly language: string
  readonly text: string
  readonly givenAt: string | null
  readonly privacyUrl: string
}

export interface ShareLink {
  readonly shareUrl: string
  readonly expiresAt: string
}

/** API behind the proxy of the shop. All functions throw a `Failure`. */
export type Shop = ReturnType<typeof createShop>

const PATIENCE_MS = 30_000
const VISITOR_KEY = 'drape:visitor'

/** Calls the API through the proxy of the shop, on behalf of this browser. */
export function createShop({ settings, clientId, track }: { settings: Settings; clientId: string; track: Track }) {
  const base = `${settings.proxy}/public`
  const headers: Record<string, string> = { 'x-service-anonymous-id': `anon_${clientId}` }
  // Without analytics no stored data outlives the tab.
  const storage = () => (settings.hasAnalytics ? localStorage : sessionStorage)
  const useToken = ({ visitorToken, expiresAt }: Visitor) => {
    if (Date.parse(expiresAt) > Date.now()) headers['x-service-visitor-token'] = visitorToken
  }
  try {
    useToken(JSON.parse(recall(storage, VISITOR_KEY) ?? '{}'))
  } catch {
    // Invalid or of another version: request a new one.
  }

  async function call<T>(path: string, init: RequestInit = {}): Promise<T> {
    try {
      const given = { ...init, headers: { ...headers, ...init.headers } }
      return await request<T>(`${base}/${path}`, { ...given, signal: AbortSignal.timeout(PATIENCE_MS) })
    } catch (error) {
      const { code, status } = error as Failure
      track('api:error', { code, status, path: path.replace(/[/?].*/, '') })
      throw error
    }
  }
  const post = <T>(path: string, body?: object, more: Readonly<Record<string, string>> = {}) =>
    call<T>(path, {
      method: 'POST',
      headers: { ...(body && { 'content-type': 'application/json' }), ...more },
      ...(body && { body: toJson(body) }),
    })

  return {
    /** Gets a visitor token for this browser, once. `solve` solves a CAPTCHA challenge if the service requires one. */
    nameVisitor: async (solve: () => Promise<string | null>): Promise<void> => {
      if (headers['x-service-visitor-token']) return
      const ask = (body: object) => post<Visitor>('visitor', body)
      // Without a token the service identifies this browser by its network address.
      const visitor = await ask({})
        .catch(async (error: Failure) => {
          const captcha = error.code === 'CAPTCHA_REQUIRED' ? await solve() : null
          return captcha === null ? null : await ask({ captcha })
        })
        .catch(() => null)
      if (visitor === null) return
      useToken(visitor)
      remember(storage, VISITOR_KEY, toJson(visitor))
    },
    uploadUrl: `${base}/upload-image`,
    headers,
    checkCredits: () => call<Offer>('check-credits'),
    findConsent: (tag: string) => call<ConsentNotice>(`consent?${new URLSearchParams({ lang: tag })}`),
    giveConsent: ({ policy, version, language }: ConsentNotice) =>
      post<{ at: string }>('consent', { policy, version, language }),
    withdrawConsent: () => post<object>('withdraw-consent'),
    prepareUpload: () => post<UploadLink>('prepare-upload'),
    completeUpload: (uploadKey: string) =>
      post<{ fileId: string; fileUrl: string; cropPending?: boolean }>('upload-complete', { uploadKey }),
    /** Idempotent: the same key returns the same generation. */
    enterFittingRoom: (imageId: string, { key, look }: { readonly key: string; readonly look: Look | null }) =>
      post<{ jobId: string }>(
        'fitting-room',
        {
          userImageId: imageId,
          productId: settings.product,
          ...(settings.variant && { variantId: settings.variant }),
          ...(look && { withProductIds: look.products }),
        },
        { 'idempotency-key': key },
      ),
    findGeneration: (id: string) => call<Generation>(`generation/${id}`),
    cancel: (id: string) => post<Generation>(`generation/${id}/cancel`),
    share: (generationId: string) =>
      post<ShareLink>('share-generation', { generationId, effectiveDomain: location.hostname }),
    leaveEmail: (email: string, marketingConsent: boolean) =>
      post<{ success: boolean }>('collect-email', { email, marketingConsent }),
    /** URL from which the image can be saved as a file. */
    downloadUrl: (url: string, filename = settings.title) =>
      `${base}/download-image?${new URLSearchParams({ url, filename })}`,
  }
}

async function request<T>(url: string, init: RequestInit): Promise<T> {
  // A redirect would send the visitor's token to another address, and its response would be taken for the service's.
  const answer = await fetch(url, { ...init, redirect: 'error' }).catch(() => null)
  if (answer === null) throw new Failure('NETWORK')
  const text = await answer.text().catch(() => null)
  if (text === null) throw new Failure('NETWORK')
  return readAnswer(answer.status, text, answer.headers.get('retry-after'))
}

/** Parses the body of a response. Throws its `Failure`. */
export function readAnswer<T>(status: number, text: string, retryAfter: string | null): T {
  if (status === 204) return {} as T
  const body = parse(text)
  if (status < 300 && body !== null) return body as T
  const { code, period, message, details } = (body ?? {}) as Record<string, unknown>
  if (code === 'PROXY_SIGNATURE_INVALID') console.error('drape-try-on:', message, details)
  const seconds = Number(retryAfter ?? Number.NaN)
  throw new Failure(typeof code === 'string' ? code : status >= 500 ? 'SERVICE_UNAVAILABLE' : 'UNEXPECTED', {
    status,
    retrySeconds: Number.isFinite(seconds) ? seconds : null,
    period: typeof period === 'string' ? period : null,
  })
}

function parse(text: string): object | null {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' ? body : null
  } catch {
    return null
  }
}
