import { SAFETY_CHECKS, type SafetyAllowance, TRY_ON_IMAGES, type TryOnImage } from '../contract/errors.ts'
import { Nullable, type Static, Type } from '../contract/schema.ts'
import type { Start } from './attempts.store.ts'
import {
  DetectedSchema,
  EngineInfoSchema,
  FORMATS,
  LayerOutcomeSchema,
  MAX_RESULTS,
  RectangleSchema,
  StoredResultSchema,
} from './generation.ts'

// Workers have no connection to Postgres: they send calls through Redis, which any API executes.

/** List of calls in Redis. Workers may append to it but not read it, so that they do not learn the calls of others. */
export const WORKER_CALLS = 'drape:worker-calls'
/** Prefix of the channels of replies. Each worker process has one with a random name, so that no other worker can receive its replies. */
export const WORKER_REPLIES = 'drape:worker-replies:'

const Attempt = { id: Type.String(), attempt: Type.Integer({ minimum: 1 }) }
const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Hashes = Type.Array(Type.Object({ hash: Hash, mirrored: Hash }), { maxItems: 2 })
const PairSchema = Type.Object({
  person: Hashes,
  product: Hashes,
  /** SHA-256 of the bytes of photo and product image, in hex. */
  digests: Type.Array(Hash, { minItems: 2, maxItems: 2 }),
})
/** Perceptual hashes of photo and product image, the whole image first. */
export type HashedPair = ReadonlyDeep<Static<typeof PairSchema>>

const FailureSchema = Type.Object({ code: Type.String(), message: Type.String() })
const Warnings = Type.Array(Type.String())
const Bytes = Type.Integer({ minimum: 0 })
/** The result of an attempt; the API derives its object key. */
const Result = { ...Attempt, accountId: Type.String(), format: Type.Enum([...FORMATS]) }

const EditionSchema = Type.Object({ id: Type.String(), imagesEdition: Type.String() })
/** A product and the version of its images. */
export type ProductEdition = Readonly<Static<typeof EditionSchema>>

const Index = Type.Integer({ minimum: 0, maximum: MAX_RESULTS - 1 })
const { key: _, changedKey: __, ...result } = StoredResultSchema.properties

const OutcomeSchema = Type.Object({
  warnings: Warnings,
  /** Duration of each stage, in ms. */
  timings: Type.Record(Type.String(), Type.Number()),
  engineInfo: EngineInfoSchema,
  category: Nullable(Type.String()),
  /** 0 to 1; absent when the result could not be rated. */
  quality: Type.Optional(Nullable(Type.Number())),
  /** Salt of the ingredient names in the result's Content Credentials; absent without credentials. */
  ingredientSalt: Type.Optional(Type.String()),
  layers: Type.Optional(Type.Array(LayerOutcomeSchema)),
  /** Whether it is a copy of the result that the job names. */
  reused: Type.Optional(Type.Boolean()),
  /** As `StoredResultSchema`, but with the index of a stored result, and whether the mask of what it changes is stored. */
  results: Type.Optional(
    Type.Array(Type.Object({ ...result, index: Type.Optional(Index), isMasked: Type.Optional(Type.Boolean()) }), {
      minItems: 1,
      maxItems: MAX_RESULTS,
    }),
  ),
})
/** Max products of one call. */
export const MAX_PRODUCTS = 1000

/** Arguments of each operation. A call can arrive twice, because its reply can be lost: every operation can be repeated. */
export const WORKER_OPERATIONS = {
  start: Type.Object({ ...Attempt, worker: Type.String() }),
  handBack: Type.Object(Attempt),
  renew: Type.Object({ ...Attempt, progress: Type.Number({ minimum: 0, maximum: 1 }) }),
  spare: Type.Object({ ...Attempt, worker: Type.String() }),
  retry: Type.Object({
    ...Attempt,
    delaySeconds: Type.Number({ minimum: 0, maximum: 60 }),
    failure: Type.Optional(FailureSchema),
  }),
  fail: Type.Object({
    ...Attempt,
    ...FailureSchema.properties,
    /** The fields of the call that caused the failure. */
    details: Type.Array(Type.Object({ path: Type.String(), message: Type.String() })),
  }),
  insertResult: Type.Object({
    ...Result,
    index: Type.Optional(Index),
    /** True for the mask of what the result changes. */
    isMask: Type.Optional(Type.Boolean()),
    /** Size in bytes. */
    bytes: Bytes,
    /** Perceptual hash; null when the image has none. */
    hash: Nullable(Hash),
  }),
  complete: Type.Object({ ...Result, outcome: OutcomeSchema }),
  examinePair: Type.Object({ id: Type.String(), accountId: Type.String(), pair: PairSchema }),
  insertRefusal: Type.Object({
    ...Attempt,
    check: Type.Enum([...SAFETY_CHECKS]),
    /** Null: the result. */
    image: Nullable(Type.Enum([...TRY_ON_IMAGES])),
    pair: PairSchema,
  }),
  findPhoto: Type.Object({ imageId: Type.String() }),
  insertView: Type.Object({ imageId: Type.String(), bytes: Bytes, hash: Nullable(Hash) }),
  savePrepared: Type.Object({
    imageId: Type.String(),
    crop: Nullable(RectangleSchema),
    personDetected: Type.Boolean(),
    warnings: Warnings,
  }),
  noteDetection: Type.Object({
    productId: Type.String(),
    imagesEdition: Type.String(),
    order: Type.Integer({ minimum: 0 }),
    detected: DetectedSchema,
  }),
  insertProductImage: Type.Object({
    key: Type.String({ pattern: '^products/' }),
    accountId: Type.String(),
    bytes: Bytes,
  }),
  findChangedProducts: Type.Object({ products: Type.Array(EditionSchema, { maxItems: MAX_PRODUCTS }) }),
  noteProvenanceKey: Type.Object({ fingerprint: Type.String(), certificate: Type.String() }),
} as const

export type WorkerOperation = keyof typeof WORKER_OPERATIONS
type Arguments<K extends WorkerOperation> = ReadonlyDeep<Static<(typeof WORKER_OPERATIONS)[K]>>

interface Results {
  /** Null when the attempt has ended, was taken or was cancelled. */
  start: Promise<Start | null>
  handBack: Promise<void>
  /** False when the attempt no longer belongs to this worker, which must stop then. */
  renew: Promise<boolean>
  /** False when the generation has already had the maximum of device failures. */
  spare: Promise<boolean>
  retry: Promise<boolean>
  fail: Promise<boolean>
  /** False when the attempt has ended. Must precede the upload. */
  insertResult: Promise<boolean>
  /** Whether this result is the result of the generation. */
  complete: Promise<boolean>
  /** `blocked`: the images that operators blocked; null: the two images together. */
  examinePair: Promise<{
    readonly allowances: readonly SafetyAllowance[]
    readonly blocked: readonly (TryOnImage | null)[]
  }>
  insertRefusal: Promise<void>
  findPhoto: Promise<{ readonly objectKey: string } | null>
  /** Key of the view; null when the photo no longer exists. Must precede the upload. */
  insertView: Promise<string | null>
  /** False when the photo no longer exists. */
  savePrepared: Promise<boolean>
  noteDetection: Promise<void>
  insertProductImage: Promise<void>
  /** The products that were deleted, have expired, or have other images. */
  findChangedProducts: Promise<readonly ProductEdition[]>
  noteProvenanceKey: Promise<void>
}

/** What workers do in the database. `isRepeat`: the same call may have been executed before. */
export type WorkerOperations = {
  readonly [K in WorkerOperation]: (args: Arguments<K>, about?: { readonly isRepeat: boolean }) => Results[K]
}

type ReadonlyDeep<T> = T extends object ? { readonly [K in keyof T]: ReadonlyDeep<T[K]> } : T

/** A call in the list. */
export const WorkerCallSchema = Type.Object({
  id: Type.String(),
  operation: Type.Enum(Object.keys(WORKER_OPERATIONS) as WorkerOperation[]),
  args: Type.Unknown(),
  /** Suffix of the channel of the reply. */
  replyTo: Type.String(),
  /** When the call expires, by the clock of Redis, in ms since 1970. An expired call is not executed. */
  until: Type.Number(),
  isRepeat: Type.Boolean(),
})
export type WorkerCall = Static<typeof WorkerCallSchema>

/** A reply to a call: its result, or its error. */
export const WorkerReplySchema = Type.Object({
  id: Type.String(),
  result: Type.Optional(Type.Unknown()),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String(), retryable: Type.Boolean() })),
})
export type WorkerReply = Static<typeof WorkerReplySchema>
