import { type Static, Type } from './schema.ts'

export const STATUSES = ['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'] as const
export type Status = (typeof STATUSES)[number]

/**
 * A change of a generation's status or progress, as processes publish it. `updatedAt` (ms since 1970) strictly grows with every
 * change of status, `progress` between two of them.
 */
export const GenerationChangeSchema = Type.Object({
  id: Type.String(),
  status: Type.Enum([...STATUSES]),
  progress: Type.Union([Type.Number(), Type.Null()]),
  updatedAt: Type.Integer(),
})
export type GenerationChange = Static<typeof GenerationChangeSchema>

/** The channel of a generation's changes. */
export function generationChannel(id: string): string {
  return `drape:generation:${id}`
}

/** The channel of Postgres on which the controller hears that there is work. */
export const DEMAND_CHANNEL = 'drape_demand'

/** After this many attempts a retryable fault counts as final. */
export const MAX_ATTEMPTS = 3
/** Failures of workers' devices that cost a generation no attempt; a job that makes devices fail ends by the attempts that follow. */
export const MAX_SPARED = 3

/** A worker that has not renewed its lease for this long is taken for lost. */
export const LEASE_SECONDS = 7

export const CATEGORIES = ['tops', 'bottoms', 'one-pieces', 'outerwear', 'other'] as const
export type Category = (typeof CATEGORIES)[number]
export const GARMENT_TYPES = ['flat_lay', 'ghost_mannequin', 'on_model', 'detail', 'other'] as const
export const FORMATS = ['jpeg', 'png', 'webp'] as const
export const MODES = ['fast', 'balanced', 'quality'] as const

/** `interactive`: a person waits for the result. `batch`: the work steps back behind the interactive work of its account. */
export const PRIORITIES = ['interactive', 'batch'] as const

/** What a call that says nothing of them gets. */
export const DEFAULT_SEED = 42
export const DEFAULT_MODE = 'balanced'

export const ClassificationsSchema = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: 20,
  description:
    `What the image shows. Known are type (${GARMENT_TYPES.join(', ')}), view (front, back, side) and category ` +
    `(${CATEGORIES.join(', ')}); on_model: true is the same as type: on_model. Other keys are stored and returned. At most 4 KB as JSON.`,
  examples: [{ type: 'flat_lay', view: 'front' }],
})

/** One image of a product: either fetched from `sourceUrl`, or stored bytes under `objectKey`. */
export const ProductImageSchema = Type.Object({
  sourceUrl: Type.String(),
  order: Type.Integer(),
  classifications: Type.Union([ClassificationsSchema, Type.Null()]),
  objectKey: Type.Optional(Type.String()),
})
export type ProductImage = Static<typeof ProductImageSchema>
/** What decides whether an engine has a use for an image. */
export type ClassifiedImage = Pick<ProductImage, 'order' | 'classifications'>

/** What a product image shows by its looks. */
export const DetectedSchema = Type.Object({
  type: Type.Enum([...GARMENT_TYPES]),
  view: Type.Union([Type.Enum(['front', 'back', 'side']), Type.Null()]),
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
})
export type Options = Static<typeof OptionsSchema>

/** The span that a job goes on from, as W3C's Trace Context writes it. */
const Traceparent = Type.Optional(Type.Union([Type.String(), Type.Null()]))

/** Everything a worker needs to start a try-on without reading back. */
export const TryOnJobSchema = Type.Object({
  generationId: Type.String(),
  attempt: Type.Integer(),
  accountId: Type.String(),
  externalUserId: Type.Union([Type.String(), Type.Null()]),
  engine: Type.String(),
  /** What the engine accepted when the try-on was accepted; jobs of older versions name none. */
  garmentTypes: Type.Optional(Type.Array(Type.String())),
  options: OptionsSchema,
  /** The quality below which a result is drawn again or refused, 0 to 1, or null for any; jobs of older versions name none. */
  minQuality: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], { default: null }),
  deadlineAt: Type.Integer(),
  acceptedAt: Type.Integer(),
  imagesExpireAt: Type.Integer(),
  /** The logo that the result shows, or null for none; jobs of older versions say nothing of it. */
  logoKey: Type.Union([Type.String(), Type.Null()], { default: null }),
  /** Workers that were lost or failed with an earlier attempt. */
  failedOn: Type.Array(Type.String(), { default: [] }),
  person: Type.Object({
    imageId: Type.String(),
    objectKey: Type.String(),
    cropMode: Type.Enum(['auto', 'none']),
    crop: Type.Union([RectangleSchema, Type.Null()]),
  }),
  product: Type.Object({
    id: Type.String(),
    imagesEdition: Type.String(),
    title: Type.Union([Type.String(), Type.Null()]),
    description: Type.Union([Type.String(), Type.Null()]),
    images: Type.Array(ProductImageSchema),
  }),
  traceparent: Traceparent,
})
export type TryOnJob = Static<typeof TryOnJobSchema>

/** Asks a worker to find the person in an uploaded photo and to note the crop. */
export const PrepareJobSchema = Type.Object({
  imageId: Type.String(),
  objectKey: Type.String(),
  traceparent: Traceparent,
})
export type PrepareJob = Static<typeof PrepareJobSchema>

/** What a worker found in an uploaded photo. */
export interface Prepared {
  /** The cropped view, stored beside the full frame; null when the frame is its own view. */
  readonly viewKey: string | null
  readonly crop: Rectangle | null
  readonly personDetected: boolean
  readonly warnings: readonly string[]
}

/** The key of the cropped view of a photo, which a worker stores beside the full frame. */
export function viewKeyOf(objectKey: string): string {
  return objectKey.replace(/\.\w+$/, '-view.jpg')
}

/** The queue's own id of an attempt: a second dispatch of the same attempt is the same job. */
export function jobId(generationId: string, attempt: number): string {
  return `${generationId}-${attempt}`
}

/** Whether a change comes after another one of the same generation. */
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

/** Whether images with these classifications can serve an engine: null means that only the images themselves can show it. */
export function garmentTypeOf(classifications: Readonly<Record<string, unknown>> | null): string | null {
  if (!classifications) return null
  if (typeof classifications.type === 'string') return classifications.type
  return GARMENT_TYPES.find((type) => classifications[type] === true) ?? null
}

/**
 * The product images that an engine may work from that accepts these garment types, best first: garments alone, then other classified
 * images, then unclassified images; front views before others; the caller's order otherwise. Empty when every image is classified as
 * something the engine cannot use.
 */
export function usableImages<I extends ClassifiedImage>(images: readonly I[], accepted: readonly string[]): I[] {
  const rank = (image: I) => {
    const type = garmentTypeOf(image.classifications)
    if (type !== null && !accepted.includes(type)) return null
    const view = image.classifications?.view
    const showsAlone = type === 'flat_lay' || type === 'ghost_mannequin'
    return (type === null ? 4 : showsAlone ? 0 : 2) + (view === undefined || view === 'front' ? 0 : 1)
  }
  return images
    .map((image) => ({ image, rank: rank(image) }))
    .filter((entry): entry is { image: I; rank: number } => entry.rank !== null)
    .sort((a, b) => a.rank - b.rank || a.image.order - b.image.order)
    .map(({ image }) => image)
}
