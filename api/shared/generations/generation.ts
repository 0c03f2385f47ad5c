import { hash } from 'node:crypto'
import { Nullable, type Static, Type } from '../contract/schema.ts'

export const STATUSES = ['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'] as const
export type Status = (typeof STATUSES)[number]

/** Maximum time value of a Date, in ms since 1970. */
export const MAX_TIME = 8.64e15

/**
 * Published change of a generation's status or progress. `updatedAt` (ms since 1970) strictly increases with every
 * status change, `progress` between two of them.
 */
export const GenerationChangeSchema = Type.Object({
  id: Type.String(),
  status: Type.Enum([...STATUSES]),
  progress: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()]),
  updatedAt: Type.Integer({ minimum: 0, maximum: MAX_TIME }),
})
export type GenerationChange = Static<typeof GenerationChangeSchema>

/** Pub/sub channel of a generation's changes. */
export function generationChannel(id: string): string {
  return `drape:generation:${id}`
}

/** Postgres channel that notifies the controller of new demand. */
export const DEMAND_CHANNEL = 'drape_demand'

/** Number of attempts after which a retryable error is final. */
export const MAX_ATTEMPTS = 3
/**
 * Maximum number of device failures that do not count as attempts. After these, a job that crashes devices ends by its
 * attempts.
 */
export const MAX_DEVICE_FAILURES = 3

export const CATEGORIES = ['tops', 'bottoms', 'one-pieces', 'outerwear', 'other'] as const
export type Category = (typeof CATEGORIES)[number]
/** Layers of an outfit, in the order in which they are put on. */
export const LAYERS = ['bottoms', 'one-pieces', 'tops', 'outerwear'] as const satisfies readonly Category[]
export type Layer = (typeof LAYERS)[number]
export const MAX_LAYERS = 4
/** Results of a try-on. */
export const MAX_RESULTS = 4
export const GARMENT_TYPES = ['flat_lay', 'ghost_mannequin', 'on_model', 'detail', 'other'] as const
export const VIEWS = ['front', 'back', 'side'] as const
export const FORMATS = ['jpeg', 'png', 'webp'] as const
export const MODES = ['fast', 'balanced', 'quality'] as const

/** `interactive`: a person waits for the result. `batch`: runs after the interactive work of its account. */
export const PRIORITIES = ['interactive', 'batch'] as const

/** Classes of accounts, for which service level objectives can differ. */
export const ACCOUNT_CLASSES = ['standard', 'premium'] as const
/** Class of a generation: that of its account, or `batch` for low-priority work of any account. */
export const SERVICE_CLASSES = [...ACCOUNT_CLASSES, 'batch'] as const
export type ServiceClass = (typeof SERVICE_CLASSES)[number]

/** Defaults of a call. */
export const DEFAULT_SEED = 42
export const DEFAULT_MODE = 'balanced'

/** Seconds from acceptance to the deadline: range of a call, and the minimum for a call without a deadline. */
export const DEADLINE_SECONDS = { min: 5, max: 3600, default: 300 } as const

export const ClassificationsSchema = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: 20,
  description:
    `Classifications of the image. Known keys: type (${GARMENT_TYPES.join(', ')}), view (${VIEWS.join(', ')}) and category ` +
    `(${CATEGORIES.join(', ')}), in any letter case; an unknown value is ignored, with a warning. on_model: true is the same as ` +
    'type: on_model. Other keys are stored and returned. At most 4 KB as JSON.',
  examples: [{ type: 'flat_lay', view: 'front' }],
})

/** An image of a product: fetched from `sourceUrl`, or stored under `objectKey`. */
export const ProductImageSchema = Type.Object({
  sourceUrl: Type.String(),
  order: Type.Integer(),
  classifications: Type.Union([ClassificationsSchema, Type.Null()]),
  objectKey: Type.Optional(Type.String()),
})
export type ProductImage = Static<typeof ProductImageSchema>
/** Fields that decide whether an engine can use an image. */
export type ClassifiedImage = Pick<ProductImage, 'order' | 'classifications'>

/** Classifications that a worker detected in a product image. */
export const DetectedSchema = Type.Object({
  type: Type.Enum([...GARMENT_TYPES]),
  view: Type.Union([Type.Enum([...VIEWS]), Type.Null()]),
  category: Type.Enum([...CATEGORIES]),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
})
export type Detected = Static<typeof DetectedSchema>

export const RectangleSchema = Type.Object({
  x: Type.Integer(),
  y: Type.Integer(),
  width: Type.Integer(),
  height: Type.Integer(),
})
export type Rectangle = Static<typeof RectangleSchema>

const OptionsSchema = Type.Object({
  watermark: Type.Boolean(),
  seed: Type.Integer(),
  mode: Type.Enum([...MODES]),
  format: Type.Enum([...FORMATS]),
  fullResolution: Type.Boolean(),
  /** Whether an outfit may lack layers that the engine refuses. Absent: no. */
  partial: Type.Optional(Type.Boolean()),
  /** Number of results. Absent: 1. */
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_RESULTS })),
  /** What the white region of the caller's mask meant: the stored mask does not show it. Absent: no mask. */
  mask: Type.Optional(Type.Enum(['allow', 'keep'])),
  /** Whether results have masks of what they change. Absent: no. */
  changedMask: Type.Optional(Type.Boolean()),
})
export type Options = Static<typeof OptionsSchema>

/** Levels that judge images; `off` judges none. */
export const SAFETY_LEVELS = ['off', 'standard', 'strict'] as const
export type SafetyLevel = (typeof SAFETY_LEVELS)[number]

const SafetyPolicySchema = Type.Object({
  level: Type.Enum(['standard', 'strict']),
  /** Whether photos and products may show underwear and swimwear. */
  allowsSwimwear: Type.Boolean(),
})
export type SafetyPolicy = Static<typeof SafetyPolicySchema>

/** What became of one product of an outfit. */
export const LayerOutcomeSchema = Type.Object({
  /** False: the engine refused it, as the last two fields say, and the outfit is without it. */
  applied: Type.Boolean(),
  warnings: Type.Array(Type.String()),
  /** 0 to 1; null when it could not be rated. */
  quality: Type.Union([Type.Number(), Type.Null()]),
  errorCode: Type.Union([Type.String(), Type.Null()]),
  errorMessage: Type.Union([Type.String(), Type.Null()]),
})
export type LayerOutcome = Omit<Static<typeof LayerOutcomeSchema>, 'warnings'> & {
  readonly warnings: readonly string[]
}

/** The engine that made a result. */
export const EngineInfoSchema = Type.Object({
  name: Type.String(),
  version: Type.String(),
  license: Type.String(),
  kind: Type.String(),
})

/** What became of a seed: a stored result, with its key, or a failure. */
export const StoredResultSchema = Type.Object({
  seed: Type.Integer(),
  key: Type.Optional(Type.String()),
  /** Of the mask of what it changes. */
  changedKey: Type.Optional(Type.String()),
  /** 0 to 1; null when it could not be rated. */
  quality: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  errorCode: Type.Optional(Type.String()),
  errorMessage: Type.Optional(Type.String()),
})
export type StoredResult = Static<typeof StoredResultSchema>

/** W3C Trace Context that the job continues. */
const Traceparent = Type.Optional(Type.Union([Type.String(), Type.Null()]))

const JobProductSchema = Type.Object({
  id: Type.String(),
  imagesEdition: Type.String(),
  title: Type.Union([Type.String(), Type.Null()]),
  description: Type.Union([Type.String(), Type.Null()]),
  images: Type.Array(ProductImageSchema),
})
export type JobProduct = Static<typeof JobProductSchema>

/** All data that a worker needs for a try-on. Stored in the outbox; the worker reads it with the statement that starts the attempt. */
export const TryOnJobSchema = Type.Object({
  generationId: Type.String(),
  attempt: Type.Integer(),
  accountId: Type.String(),
  externalUserId: Type.Union([Type.String(), Type.Null()]),
  engine: Type.String(),
  /** Garment types that the engine accepted when the try-on was accepted. */
  garmentTypes: Type.Array(Type.String()),
  options: OptionsSchema,
  /** Minimum quality from 0 to 1; a result below it is refused. Null: any. */
  minQuality: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()]),
  /** Safety policy of the account. Null: everything is allowed. */
  safety: Type.Union([SafetyPolicySchema, Type.Null()]),
  deadlineAt: Type.Integer(),
  acceptedAt: Type.Integer(),
  imagesExpireAt: Type.Integer(),
  /** Logo on the result, or null for none. */
  logoKey: Type.Union([Type.String(), Type.Null()]),
  /** Workers that were lost during an earlier attempt or failed it. */
  failedOn: Type.Array(Type.String(), { default: [] }),
  person: Type.Object({
    imageId: Type.String(),
    objectKey: Type.String(),
    cropMode: Type.Enum(['auto', 'none']),
    crop: Type.Union([RectangleSchema, Type.Null()]),
  }),
  /** Mask of the region of the photo that may change. Null: the whole photo. */
  maskKey: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  product: JobProductSchema,
  /** All products of an outfit, in the order of the call. Null: `product` alone. */
  layers: Type.Optional(
    Type.Union([Type.Array(Type.Object({ layer: Type.Enum([...LAYERS]), product: JobProductSchema })), Type.Null()]),
  ),
  /** The result of an earlier generation, which becomes that of this one if it still exists. Absent or null: none. */
  reuse: Type.Optional(
    Nullable(
      Type.Object({
        key: Type.String(),
        warnings: Type.Array(Type.String()),
        category: Nullable(Type.String()),
        quality: Nullable(Type.Number()),
        engine: EngineInfoSchema,
        ingredientSalt: Nullable(Type.String()),
        layers: Nullable(Type.Array(LayerOutcomeSchema)),
      }),
    ),
  ),
  traceparent: Traceparent,
})
export type TryOnJob = Static<typeof TryOnJobSchema>

/**
 * Job of the try-on queues. Whoever can write to Redis can write this, so it names no object and no account: a forged job starts at most
 * an attempt that waits, with the data of its own row.
 */
export const QueuedTryOnSchema = Type.Object({
  generationId: Type.String(),
  attempt: Type.Integer(),
  engine: Type.String(),
  failedOn: Type.Array(Type.String(), { default: [] }),
  traceparent: Traceparent,
})
export type QueuedTryOn = Static<typeof QueuedTryOnSchema>

/** Job: detect the person in an uploaded photo and record the crop. Names no object, as `QueuedTryOnSchema`. */
export const PrepareJobSchema = Type.Object({ imageId: Type.String(), traceparent: Traceparent })
export type PrepareJob = Static<typeof PrepareJobSchema>

/** Findings of a worker about an uploaded photo. Never in Redis, whose event streams outlive photos. */
export interface Prepared {
  /** Object key of the cropped view; null when the full photo is the view. */
  readonly viewKey: string | null
  readonly crop: Rectangle | null
  readonly personDetected: boolean
  readonly warnings: readonly string[]
}

/** Object key of the cropped view of a photo. */
export function viewKeyOf(objectKey: string): string {
  return objectKey.replace(/\.\w+$/, '-view.jpg')
}

/**
 * Object key of a result of an attempt; `index` counts the results from 0. Shared pages contain the key, so it does not show the ID of the generation: who knows an ID
 * must not find more about it.
 */
export function resultKeyOf({
  accountId,
  generationId,
  attempt,
  format,
  index = 0,
}: Pick<TryOnJob, 'accountId' | 'generationId' | 'attempt'> & {
  readonly format: (typeof FORMATS)[number]
  readonly index?: number
}): string {
  const name = hash('sha256', `${generationId}-${attempt}${index === 0 ? '' : `-${index}`}`).slice(0, 32)
  return `results/${accountId}/${name}.${format === 'jpeg' ? 'jpg' : format}`
}

/** Object key of the mask of what a result changes. */
export function changedKeyOf(resultKey: string): string {
  return resultKey.replace(/\.\w+$/, '-changed.png')
}

/** Seeds of the results of a try-on: those that follow the seed of the call, so that each can be drawn alone. */
export function seedsOf({ seed, count = 1 }: Pick<Options, 'seed' | 'count'>): number[] {
  return Array.from({ length: count }, (_, i) => (seed + i) % 2 ** 31)
}

/**
 * Job ID of an attempt in the queue. Dispatching the same attempt again yields the same ID, so the queue deduplicates
 * it.
 */
export function jobId(generationId: string, attempt: number): string {
  return `${generationId}-${attempt}`
}

/**
 * Job ID of the preparation of a photo. A hash, because the event stream of a queue keeps the IDs of ended jobs, also of erased
 * photos.
 */
export function prepareJobId(imageId: string): string {
  return `prepare-${hash('sha256', imageId).slice(0, 32)}`
}

/** Whether a change is newer than another change of the same generation. */
export function isNewer(change: Moment, than: Moment): boolean {
  const ms = Number(change.updatedAt) - Number(than.updatedAt)
  return ms > 0 || (ms === 0 && (change.progress ?? 0) > (than.progress ?? 0))
}

interface Moment {
  readonly updatedAt: Date | number
  readonly progress: number | null
}

export function isTerminal(status: Status): boolean {
  return status === 'COMPLETED' || status === 'FAILED'
}

type Sent = Readonly<Record<string, unknown>> | null | undefined

const KNOWN_VALUES = { type: GARMENT_TYPES, view: VIEWS, category: CATEGORIES } as const

/** Value of a known key of the classifications, whatever its letter case; null when it is absent or unknown. */
function knownValue<K extends keyof typeof KNOWN_VALUES>(sent: Sent, key: K): (typeof KNOWN_VALUES)[K][number] | null {
  const value = sent?.[key]
  if (typeof value !== 'string') return null
  const values: readonly (typeof KNOWN_VALUES)[K][number][] = KNOWN_VALUES[key]
  return values.find((known) => known === value.toLowerCase()) ?? null
}

/** Garment type of the classifications; null means that only the image itself can show it. */
export function garmentTypeOf(sent: Sent): (typeof GARMENT_TYPES)[number] | null {
  return knownValue(sent, 'type') ?? GARMENT_TYPES.find((type) => sent?.[type] === true) ?? null
}

/** Whether images of this type show a garment without a wearer. */
export function showsGarmentAlone(type: string | null | undefined): boolean {
  return type === 'flat_lay' || type === 'ghost_mannequin'
}

/** Category of the classifications; null when it is absent or unknown. */
export function categoryOf(sent: Sent): Category | null {
  return knownValue(sent, 'category')
}

/** Keys of the classifications whose values are unknown, so that they count as absent. */
export function unknownKeys(sent: Sent): string[] {
  const keys = Object.keys(KNOWN_VALUES) as (keyof typeof KNOWN_VALUES)[]
  return keys.filter((key) => sent?.[key] != null && knownValue(sent, key) === null)
}

/**
 * Product images that an engine with these garment types can use, best first: garments alone, then other classified
 * images, then unclassified images; front views before others; otherwise in the caller's order. Empty when the engine
 * accepts none of the classifications.
 */
export function usableImages<I extends ClassifiedImage>(images: readonly I[], accepted: readonly string[]): I[] {
  const rank = (image: I) => {
    const type = garmentTypeOf(image.classifications)
    if (type !== null && !accepted.includes(type)) return null
    const view = knownValue(image.classifications, 'view')
    return (type === null ? 4 : showsGarmentAlone(type) ? 0 : 2) + (view === null || view === 'front' ? 0 : 1)
  }
  return images
    .map((image) => ({ image, rank: rank(image) }))
    .filter((entry): entry is { image: I; rank: number } => entry.rank !== null)
    .sort((a, b) => a.rank - b.rank || a.image.order - b.image.order)
    .map(({ image }) => image)
}
