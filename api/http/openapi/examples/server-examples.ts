import { ERRORS, FAILURE_CODES } from '../../../shared/contract/error-codes.ts'
import type { ErrorCode } from '../../../shared/contract/errors.ts'
import type { OperationExamples } from '../operation.ts'

const GENERATION_ID = 'gen_4fVx2mQ8sLb1'
const BATCH_ID = 'batch_7Hc3nWq0ZtKe'
const CREATED_AT = '2026-05-12T09:30:00.000Z'
const UPDATED_AT = '2026-05-12T09:30:09.412Z'
const IMAGE = { source: { url: 'https://shop.example/images/shirt-17.jpg' } }
const PERSON = { image: { source: { id: 'img_9TzKw3uRc0Yd' } } }

const PRODUCT_INPUT = {
  externalId: 'shirt-17',
  title: 'Mustard T-shirt',
  images: [{ ...IMAGE, classifications: { type: 'flat_lay', view: 'front' } }],
  validForDays: 30,
  metadata: { collection: 'summer' },
}

const PRODUCT = {
  externalId: 'shirt-17',
  title: 'Mustard T-shirt',
  description: null,
  images: [
    {
      sourceUrl: IMAGE.source.url,
      order: 0,
      classifications: { type: 'flat_lay', view: 'front' },
      detected: { type: 'flat_lay', view: 'front', category: 'tops', confidence: 0.97 },
    },
  ],
  metadata: { collection: 'summer' },
  validForDays: 30,
  lastUsedAt: UPDATED_AT,
  expiresAt: '2026-06-11T09:30:09.412Z',
  createdAt: CREATED_AT,
  updatedAt: CREATED_AT,
}

const ANALYTICS_TOTALS = {
  visitors: 400,
  engaged: 120,
  generationStarted: 90,
  resultViewed: 80,
  tryOnCarted: 20,
  carted: 50,
  orders: 16,
  tryOnOrders: 8,
  emailPrompted: 40,
  emailCollected: 10,
}
const ANALYTICS = {
  timeZone: 'UTC',
  shop: 'shop.example',
  from: '2026-05-12',
  to: '2026-05-12',
  totals: ANALYTICS_TOTALS,
  rates: { cart: 0.125, cartAfterResult: 0.25, ordersAfterTryOn: 0.5, emailCollection: 0.25 },
  days: [{ day: '2026-05-12', ...ANALYTICS_TOTALS }],
}

const TRY_ON = {
  products: [{ externalId: 'shirt-17' }],
  person: PERSON,
  externalUserId: 'user-1042',
  output: { format: 'png', deadlineSeconds: 120 },
}

const PENDING = {
  generationId: GENERATION_ID,
  status: 'PENDING',
  queuePosition: 3,
  estimatedStartSeconds: 4,
  estimatedStartRange: { min: 2, max: 9 },
  estimatedSeconds: 12,
  engineName: 'warp',
  createdAt: CREATED_AT,
  updatedAt: CREATED_AT,
}

const COMPLETED = {
  generationId: GENERATION_ID,
  status: 'COMPLETED',
  resultImageUrl: 'https://images.example/results/4b8f2c6e1a90d7f3.png?expires=1778580609&signature=c2lnbmVk',
  engineName: 'warp',
  engine: { name: 'warp', version: '1', license: 'Apache-2.0', kind: 'preview' },
  category: 'tops',
  quality: 0.91,
  timings: { person: 410, garment: 820, warp: 1300, encode: 95 },
  warnings: ['CATEGORY_ASSUMED'],
  createdAt: CREATED_AT,
  updatedAt: UPDATED_AT,
}

function failedWith(code: ErrorCode) {
  const { message, details } = ERRORS[code].example
  return {
    generationId: GENERATION_ID,
    status: 'FAILED',
    engineName: 'warp',
    errorCode: code,
    errorMessage: message,
    ...(Array.isArray(details) && { errorDetails: details }),
    createdAt: CREATED_AT,
    updatedAt: UPDATED_AT,
  }
}

const FAILED = Object.fromEntries(FAILURE_CODES.map((code) => [code, failedWith(code)]))

const BATCH = {
  batchId: BATCH_ID,
  status: 'fetching',
  createdAt: CREATED_AT,
  counts: { total: 1, created: 1, updated: 0, unchanged: 0, failed: 0, pending: 0 },
  images: { total: 1, pending: 1, fetched: 0, failed: 0, replaced: 0 },
  items: [
    {
      index: 0,
      line: 1,
      externalId: 'shirt-17',
      result: 'created',
      images: { pending: 1, fetched: 0, failures: [] },
    },
  ],
  nextCursor: null,
  hasMore: false,
}

const EVENT_ID = 'msg_2QmB8xVt5Jns'
const RECEIPT = {
  statement: {
    type: 'drape/erasure-receipt',
    version: 1,
    id: 'era_5f0c2a4e-7d43-4c1a-9c55-0d6a1c1f2b3d',
    installation: 'https://tryon.example.com',
    account: 'acc_1',
    customer: '77d54f43ec7eb7a2147c0d3b17c76ea87194c65a77da377a46ce35ed6408b68a',
    requestedAt: '2026-11-25T09:30:00.120Z',
    erasedAt: '2026-11-25T09:30:00.480Z',
    issuedAt: '2026-11-25T09:31:02.007Z',
    objects: {
      bytes: 1043021,
      byKind: { person: 2, result: 1 },
      count: 3,
      merkleRoot: 'b111f9ff6fb7c9d2ed69eafd6afe6da688e47e067d7cc910de177b3a7828dec6',
    },
    rows: { generations: 1, images: 1 },
    cancelledJobs: 0,
    confirmations: [
      {
        place: 'database',
        confirmedAt: '2026-11-25T09:30:00.480Z',
        how: 'Queries for the end user found no image, object, link, lead or event.',
      },
      {
        place: 'objectStorage',
        confirmedAt: '2026-11-25T09:31:02.007Z',
        how: 'After the deletion, the storage was asked for each object and had none.',
      },
    ],
    kept: [
      {
        what: 'generations',
        count: 1,
        reason: 'Records of try-ons without a link to the end user, to a photo or to a result.',
      },
    ],
  },
  signature: {
    algorithm: 'Ed25519',
    keyId: '06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9',
    publicKey: '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
    value: 'QyF/2yt1V80mT8ChnwaiGsqMVSUKktI8jftFTT0WisHreW3XcORFpZqblEYFI7HEgJi/q+uNN0R9sUXFD9ylAA==',
  },
  leaves: [
    '1b0c3c2d3642cad380086e05323f97009251502da5613f964fd6d59cff4879c0',
    '75c86cec7f025771ab85fd6408a802d9762767dc7705c53ffd186f9fd065c58a',
    '97c7755ddc12ac1868df45f184f0d315020f330cf2821026a2d9c63ca3965b08',
  ],
}

const EVENTS = ['generation.completed', 'generation.failed']
const DELIVERY = {
  deliveryId: 8812,
  eventId: EVENT_ID,
  type: 'generation.completed',
  timestamp: UPDATED_AT,
  data: { accountId: 'acc_1', generationId: GENERATION_ID, productExternalId: 'shirt-17', status: 'COMPLETED' },
}
const EXPIRES_AT = '2026-05-12T09:31:09.412Z'

const ENGINE = {
  name: 'warp',
  version: '1',
  kind: 'preview',
  license: 'Apache-2.0',
  categories: ['tops', 'bottoms', 'one-pieces'],
  garmentTypes: ['flat_lay', 'ghost_mannequin', 'on_model'],
  outfits: true,
  maxCount: 1,
  modes: ['balanced'],
  credits: 1,
  isDefault: true,
  state: 'ready',
  expectedWaitSeconds: 4,
}

/** Examples of the routes for servers of accounts. */
export const SERVER_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  createTryOn: {
    request: { 'application/json': TRY_ON },
    answers: {
      201: {
        accepted: {
          generationId: GENERATION_ID,
          status: 'PENDING',
          productExternalId: 'shirt-17',
          engineName: 'warp',
          estimatedStartSeconds: 4,
          estimatedSeconds: 12,
        },
      },
    },
  },
  createTryOnAndWait: {
    request: { 'application/json': TRY_ON },
    answers: {
      201: { completed: { ...COMPLETED, productExternalId: 'shirt-17' } },
      202: { pending: { ...PENDING, productExternalId: 'shirt-17' } },
    },
  },
  createOutfit: {
    request: {
      'application/json': {
        ...TRY_ON,
        products: [{ externalId: 'shirt-17' }, { externalId: 'trousers-3', layer: 'bottoms' }],
        partial: 'allowed',
      },
    },
    answers: {
      201: {
        accepted: {
          generationId: GENERATION_ID,
          status: 'PENDING',
          layers: [
            { productExternalId: 'shirt-17', layer: 'tops' },
            { productExternalId: 'trousers-3', layer: 'bottoms' },
          ],
          engineName: 'warp',
          estimatedStartSeconds: 4,
          estimatedSeconds: 12,
        },
      },
    },
  },
  getGeneration: { answers: { 200: { completed: COMPLETED, pending: PENDING, ...FAILED } } },
  followGeneration: {
    answers: { 200: { completed: `id: 4\ndata: ${JSON.stringify(COMPLETED)}\n\n` } },
  },
  cancelGeneration: { answers: { 200: { cancelled: FAILED.GENERATION_CANCELLED } } },
  appealGeneration: {
    request: { 'application/json': { reason: 'The photo shows a person in a swimsuit of our catalogue.' } },
    answers: {
      200: {
        open: {
          generationId: GENERATION_ID,
          state: 'OPEN',
          answer: null,
          reason: 'The photo shows a person in a swimsuit of our catalogue.',
          byShopper: false,
          createdAt: UPDATED_AT,
          decidedAt: null,
        },
      },
    },
  },
  getAppeal: {
    answers: {
      200: {
        decided: {
          generationId: GENERATION_ID,
          state: 'ALLOWED',
          answer: 'The swimsuit is from your catalogue.',
          reason: 'The photo shows a person in a swimsuit of our catalogue.',
          byShopper: false,
          createdAt: UPDATED_AT,
          decidedAt: '2026-05-12T15:02:10.000Z',
        },
      },
    },
  },
  uploadImage: {
    request: { 'multipart/form-data': { file: '(bytes of the photo)', externalUserId: 'user-1042', keepForDays: 7 } },
    answers: {
      201: {
        stored: {
          imageId: PERSON.image.source.id,
          imageUrl: 'https://images.example/persons/img_9TzKw3uRc0Yd.jpg?expires=1778579100&signature=c2lnbmVk',
          crop: { x: 120, y: 0, width: 960, height: 1200 },
          personDetected: true,
          warnings: [],
        },
      },
    },
  },
  upsertProduct: { request: { 'application/json': PRODUCT_INPUT }, answers: { 200: { product: PRODUCT } } },
  listProducts: {
    answers: { 200: { page: { items: [PRODUCT], nextCursor: null, hasMore: false, count: 1 } } },
  },
  getProduct: { answers: { 200: { product: PRODUCT } } },
  deleteProduct: { answers: { 200: { deleted: { deleted: true } } } },
  getProductStatistics: {
    answers: {
      200: {
        statistics: {
          totalGenerations: 128,
          completedGenerations: 121,
          failedGenerations: 7,
          avgGenerationTimeMs: 8450,
        },
      },
    },
  },
  upsertProducts: {
    request: {
      'application/json': { products: [PRODUCT_INPUT] },
      'application/x-ndjson': `${JSON.stringify(PRODUCT_INPUT)}\n`,
      'text/csv': `externalId,title,imageUrls,validForDays\nshirt-17,Mustard T-shirt,${IMAGE.source.url},30\n`,
    },
    answers: { 200: { stored: BATCH } },
  },
  getProductBatch: { answers: { 200: { fetching: BATCH } } },
  getAccount: {
    answers: {
      200: {
        account: {
          id: 'acc_1',
          mode: 'live',
          name: 'Example shop',
          email: 'shop@shop.example',
          creditBalance: 871,
          isActive: true,
          outfitPricing: 'layer',
          retentionDays: 7,
          createdAt: '2026-01-08T12:00:00.000Z',
        },
      },
    },
  },
  getCredits: { answers: { 200: { credits: { creditBalance: 871 } } } },
  getAnalytics: { answers: { 200: { analytics: ANALYTICS } } },
  getAnalyticsCsv: {
    answers: {
      200: {
        days: `day,${Object.keys(ANALYTICS.totals).join()}\r\n2026-05-12,${Object.values(ANALYTICS.totals).join()}\r\n`,
      },
    },
  },
  getErasure: {
    answers: {
      200: {
        issued: {
          erasureId: RECEIPT.statement.id,
          status: 'ISSUED',
          waitsFor: null,
          requestedAt: RECEIPT.statement.requestedAt,
          erasedAt: RECEIPT.statement.erasedAt,
          issuedAt: RECEIPT.statement.issuedAt,
          receipt: RECEIPT,
        },
      },
    },
  },
  listEngines: { answers: { 200: { engines: { engines: [ENGINE] } } } },
  createListener: {
    request: { 'application/json': { events: EVENTS } },
    answers: { 201: { listener: { listenerId: 'lis_6PwD1aFy4Gmz', events: EVENTS, expiresAt: EXPIRES_AT } } },
  },
  pollListener: {
    request: { 'application/json': { outcomes: [{ deliveryId: DELIVERY.deliveryId, status: 204 }], waitSeconds: 20 } },
    answers: { 200: { polled: { events: [DELIVERY], expiresAt: EXPIRES_AT } } },
  },
  sendTestEvent: {
    request: { 'application/json': { type: 'generation.completed' } },
    answers: { 201: { queued: { eventId: EVENT_ID, deliveries: 1 } } },
  },
  resendEvent: { answers: { 200: { queued: { eventId: EVENT_ID, deliveries: 1 } } } },
  getDocument: { answers: { 200: { start: { openapi: '3.1.0' } } } },
}
