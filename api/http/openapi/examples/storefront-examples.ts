import { ERRORS } from '../../../shared/contract/error-codes.ts'
import type { ErrorCode } from '../../../shared/contract/errors.ts'
import type { OperationExamples } from '../operation.ts'

const GENERATION_ID = 'gen_8dRu5yKp2Wxa'
const UPLOAD_KEY = 'upl_3NbX7eLs9Vqg'
const SHARE_TOKEN = 'Zk3vQ9tYw1'
const SHARE_URL = `https://tryon.example.net/s/${SHARE_TOKEN}`
const SHARE_EXPIRES_AT = '2026-05-19T09:30:09.412Z'
const RESULT_URL = 'https://images.example/results/4b8f2c6e1a90d7f3.jpg?expires=1778580609&signature=c2lnbmVk'
const TIMES = { createdAt: '2026-05-12T09:30:00.000Z', updatedAt: '2026-05-12T09:30:09.412Z' }
const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const PAGE_URL = 'https://shop.example/products/shirt-17'

const PHOTO = {
  fileId: 'img_1MvC4zJh6Rtb',
  fileUrl: 'https://images.example/persons/img_1MvC4zJh6Rtb.jpg?expires=1778579100&signature=c2lnbmVk',
  message: 'The photo is ready.',
}

const ENDED = { generationId: GENERATION_ID, appealUrl: null, ...TIMES }
const GENERATION = { ...ENDED, status: 'COMPLETED', resultImageUrl: RESULT_URL, errorMessage: null, errorCode: null }
const CANCELLED = {
  ...{ ...ENDED, status: 'FAILED', errorCode: 'GENERATION_CANCELLED' },
  errorMessage: ERRORS.GENERATION_CANCELLED.example.message,
}

const APPEAL = {
  code: 'NUDITY_DETECTED',
  image: 'person',
  state: 'OPEN',
  reason: 'I wear a beige shirt.',
  answer: null,
  createdAt: TIMES.updatedAt,
  decidedAt: null,
}
const DECISION = { state: 'ALLOWED', answer: 'It is a shirt.', decidedAt: '2026-05-12T15:02:10.000Z' }

const SHARE = { shareToken: SHARE_TOKEN, shareUrl: SHARE_URL, expiresAt: SHARE_EXPIRES_AT }

const EVENT = {
  event: 'widget:button_click',
  properties: { placement: 'product page' },
  timestamp: TIMES.createdAt,
  $insert_id: 'evt_5GyT2kWn8Bdf',
}

const EVENTS_ANSWERS = {
  200: { accepted: { success: true } },
  429: {
    over: { success: false, message: 'Too many events. Send the batch again after the seconds in Retry-After.' },
  },
}

function blocked(code: ErrorCode, message: string) {
  return { jobId: '', message, code }
}

/** Examples of the routes for shops, their shoppers and their platforms. */
export const STOREFRONT_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  createVisitor: {
    request: { 'application/json': {} },
    answers: { 201: { visitor: { visitorToken: 'vt_eyJ2IjoiOHdUcSJ9', expiresAt: '2026-06-11T09:30:00.000Z' } } },
  },
  getConsentNotice: {
    answers: {
      200: {
        notAgreed: {
          required: true,
          policy: 'shop.example',
          version: '2026-11',
          language: 'en',
          text: 'I agree that my photo is used to show me how products of this shop look on me.',
          givenAt: null,
          privacyUrl: 'https://tryon.example.net/privacy/shop_0197f3c2-5b1e-7c4a-9d2f-3e8b6a1c0d4e',
        },
      },
    },
  },
  giveConsent: {
    request: { 'application/json': { policy: 'shop.example', version: '2026-11', language: 'en' } },
    answers: { 201: { recorded: { policy: 'shop.example', version: '2026-11', at: TIMES.createdAt } } },
  },
  prepareShopperUpload: {
    answers: {
      200: {
        prepared: {
          uploadUrl: `https://tryon.example.net/public/uploads/${UPLOAD_KEY}?expires=1778579100&signature=c2lnbmVk`,
          uploadKey: UPLOAD_KEY,
        },
      },
    },
  },
  putShopperUpload: {
    request: { 'application/octet-stream': '(bytes of the photo)' },
    answers: { 200: { received: { uploadKey: UPLOAD_KEY } } },
  },
  completeShopperUpload: {
    request: { 'application/json': { uploadKey: UPLOAD_KEY } },
    answers: { 200: { again: PHOTO }, 201: { stored: PHOTO } },
  },
  uploadShopperImage: {
    request: { 'multipart/form-data': { file: '(bytes of the photo)' } },
    answers: { 201: { stored: PHOTO } },
  },
  listReceiptKeys: {
    answers: {
      200: {
        keys: {
          keys: [
            {
              kty: 'OKP',
              crv: 'Ed25519',
              use: 'sig',
              kid: '06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9',
              x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
            },
          ],
        },
      },
    },
  },
  getShopperAppeal: { answers: { 200: { decided: { ...APPEAL, ...DECISION } } } },
  requestShopperAppeal: {
    request: { 'multipart/form-data': { reason: APPEAL.reason } },
    answers: { 200: { open: APPEAL } },
  },
  requestRemoval: {
    request: {
      'multipart/form-data': {
        email: 'ada@example.com',
        reason: 'This is a photo of me.',
        file: '(bytes of the image)',
      },
    },
    answers: {
      200: {
        received: {
          ...{
            reference: 'k3VbT9xQmZ2LrW8dYcN5Ha',
            state: 'OPEN',
            answer: null,
            createdAt: '2026-05-12T09:30:00.000Z',
          },
          dueAt: '2026-05-14T09:30:00.000Z',
          decidedAt: null,
        },
      },
    },
  },
  getRemovalRequest: {
    answers: {
      200: {
        erased: {
          ...{
            reference: 'k3VbT9xQmZ2LrW8dYcN5Ha',
            state: 'ERASED',
            answer: null,
            createdAt: '2026-05-12T09:30:00.000Z',
          },
          dueAt: '2026-05-14T09:30:00.000Z',
          decidedAt: '2026-05-12T15:02:10.000Z',
        },
      },
    },
  },
  verifyImage: {
    request: { 'multipart/form-data': { file: '(bytes of the image)' } },
    answers: {
      200: {
        valid: {
          status: 'valid',
          problems: [],
          madeHere: true,
          statement: {
            generator: 'Drape 0.1.0',
            engine: 'warp 1.4.0',
            weights: null,
            sourceType: 'http://cv.iptc.org/newscodes/digitalsourcetype/composite',
            day: '2026-05-12',
            ingredients: [{ title: 'Photo of the person', name: `urn:drape:hmac-sha256:${'5e'.repeat(32)}` }],
          },
          signer: {
            subject: 'Drape',
            issuer: 'Drape',
            validUntil: '2036-05-12T00:00:00.000Z',
            keyFingerprint: '1f'.repeat(32),
          },
        },
        none: {
          status: 'none',
          problems: ['The image has no Content Credentials.'],
          madeHere: false,
          statement: null,
          signer: null,
        },
      },
    },
  },
  enterFittingRoom: {
    request: { 'application/json': { userImageId: PHOTO.fileId, productId: 'gid://shopify/Product/1234567890' } },
    answers: {
      200: { accepted: { jobId: GENERATION_ID, message: 'The image is being generated.' } },
      402: {
        QUOTA_EXCEEDED: blocked('QUOTA_EXCEEDED', 'The shop has reached its monthly limit of try-ons.'),
        BILLING_NOT_ALLOWED: blocked('BILLING_NOT_ALLOWED', ERRORS.BILLING_NOT_ALLOWED.example.message),
      },
      429: {
        RATE_LIMIT_EXCEEDED: {
          ...blocked('RATE_LIMIT_EXCEEDED', ERRORS.RATE_LIMIT_EXCEEDED.example.message),
          period: 'week',
        },
      },
    },
  },
  getShopperGeneration: { answers: { 200: { completed: GENERATION } } },
  cancelShopperGeneration: { answers: { 200: { cancelled: CANCELLED } } },
  followShopperGeneration: {
    answers: { 200: { completed: `id: 4\ndata: ${JSON.stringify(GENERATION)}\n\n` } },
  },
  checkCredits: { answers: { 200: { allowed: { allowed: true } } } },
  shareGeneration: {
    request: { 'application/json': { generationId: GENERATION_ID, effectiveDomain: 'www.shop.example' } },
    answers: { 200: { known: SHARE }, 201: { created: SHARE } },
  },
  getShare: {
    answers: {
      200: {
        shared: {
          ...SHARE,
          generation: { status: 'COMPLETED', resultImageUrl: RESULT_URL, ...TIMES },
          product: { productId: 'shirt-17', title: 'Mustard T-shirt', description: null, imageUrl: null },
          merchant: { name: 'Example shop', domain: 'shop.example', url: 'https://shop.example' },
        },
      },
    },
  },
  downloadImage: { answers: { 200: { image: '(bytes of the image)' }, 206: { image: '(bytes of the image)' } } },
  collectEmail: {
    request: { 'application/json': { email: 'anna@example.com', marketingConsent: true } },
    answers: { 200: { stored: { success: true, message: 'Thank you.' } } },
  },
  sendEvents: {
    request: {
      'application/json': {
        events: [EVENT],
        context: {
          anonymous_id: 'anon_0f9d2b1c',
          session_id: 'sess_4a7e',
          $pageview_id: 'pv_81c2',
          widget_version: 'wv_1.4.0',
          widget_enabled: true,
          product_id: 'gid://shopify/Product/1234567890',
          variant_id: null,
          $screen_width: 1920,
          $screen_height: 1080,
          $timezone: 'Europe/Berlin',
          integration: 'sdk',
        },
      },
    },
    answers: EVENTS_ANSWERS,
  },
  trackEvents: {
    request: {
      'application/json': {
        events: [EVENT],
        context: {
          $current_url: PAGE_URL,
          $pathname: '/products/shirt-17',
          $host: 'shop.example',
          $referrer: null,
          $referring_domain: null,
          $screen_width: 1920,
          $screen_height: 1080,
          $viewport_width: 1280,
          $viewport_height: 800,
          $raw_user_agent: USER_AGENT,
          $browser_language: 'de',
          $timezone: 'Europe/Berlin',
          $session_id: 'sess_4a7e',
          $pageview_id: 'pv_81c2',
          service_client_id: '0f9d2b1c-4a7e-4c1d-9b3a-5e8f7d6c2a10',
          service_widget_enabled: true,
          service_product_id: 'gid://shopify/Product/1234567890',
          service_variant_id: null,
          service_lib_version: '1.4.0',
        },
      },
    },
    answers: EVENTS_ANSWERS,
  },
  receiveShopifyWebhook: {
    request: { 'application/json': { shop_domain: 'example-shop.myshopify.com', customer: { id: 706405506930370 } } },
    answers: { 200: { done: { success: true } } },
  },
}
