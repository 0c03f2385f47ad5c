import { type Static, Type } from './schema.ts'

export const STATUSES = ['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'] as const
export type Status = (typeof STATUSES)[number]

/** One move of a generation, as processes tell each other. `updatedAt` (ms since 1970) strictly grows with each. */
export const GenerationChangeSchema = Type.Object({
  id: Type.String(),
  status: Type.Enum([...STATUSES]),
  progress: Type.Union([Type.Number(), Type.Null()]),
  updatedAt: Type.Integer(),
})
export type GenerationChange = Static<typeof GenerationChangeSchema>

/** Where the moves of a generation are told. */
export function generationChannel(id: string): string {
  return `drape:generation:${id}`
}

/** Where Postgres tells that there is work, for whoever scales the workers. */
export const DEMAND_CHANNEL = 'drape_demand'

/** After so many attempts a retryable fault counts as final. */
export const MAX_ATTEMPTS = 3

/** A worker that has not renewed its lease for this long is taken for lost. */
export const LEASE_SECONDS = 7

export const CATEGORIES = ['tops', 'bottoms', 'one-pieces', 'outerwear', 'other'] as const
export const GARMENT_TYPES = ['flat_lay', 'ghost_mannequin', 'on_model', 'detail', 'other'] as const
export const FORMATS = ['jpeg', 'png', 'webp'] as const
export const MODES = ['fast', 'balanced', 'quality'] as const

/** What a call that says nothing of them gets. */
export const DEFAULT_SEED = 42
export const DEFAULT_MODE = 'balanced'

/** What an engine asks of a call before any worker has seen it; the worker's registry holds the engines themselves. */
export const ENGINES = {
  warp: { cost: 1, garmentTypes: ['flat_lay', 'ghost_mannequin'] as readonly string[] },
  'fashn-vton': { cost: 1, garmentTypes: ['flat_lay', 'ghost_mannequin'] as readonly string[] },
  catvton: { cost: 1, garmentTypes: ['flat_lay', 'ghost_mannequin'] as readonly string[] },
  mock: { cost: 0, garmentTypes: GARMENT_TYPES as readonly string[] },
} as const
export type EngineName = keyof typeof ENGINES

export const ClassificationsSchema = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: 20,
  description:
    `What the image shows. Known are type (${GARMENT_TYPES.join(', ')}), view (front, back, side) and category ` +
    `(${CATEGORIES.join(', ')}); on_model: true is the same as type: on_model. Other keys are stored and returned.`,
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

export const OptionsSchema = Type.Object({
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
  engine: Type.Enum(Object.keys(ENGINES) as EngineName[]),
  options: OptionsSchema,
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

/** The queue's own id of an attempt: a second dispatch of the same attempt is the same job. */
export function jobId(generationId: string, attempt: number): string {
  return `${generationId}-${attempt}`
}

export function isTerminal(status: Status): boolean {
  return status === 'COMPLETED' || status === 'FAILED'
}

/** Whether images with these classifications can serve an engine: null means that only a look at them can tell. */
export function garmentTypeOf(classifications: Readonly<Record<string, unknown>> | null): string | null {
  if (!classifications) return null
  if (typeof classifications.type === 'string') return classifications.type
  return GARMENT_TYPES.find((type) => classifications[type] === true) ?? null
}

/**
 * The product images that an engine may work from, best first: classified ones it accepts, then unclassified ones; front views
 * before others; the caller's order otherwise. Empty when every image is classified as something the engine cannot use.
 */
export function usableImages(images: readonly ProductImage[], engine: EngineName): ProductImage[] {
  const accepted = ENGINES[engine].garmentTypes
  const rank = (image: ProductImage) => {
    const type = garmentTypeOf(image.classifications)
    if (type !== null && !accepted.includes(type)) return null
    const view = image.classifications?.view
    return (type === null ? 2 : 0) + (view === undefined || view === 'front' ? 0 : 1)
  }
  return images
    .map((image) => ({ image, rank: rank(image) }))
    .filter((entry): entry is { image: ProductImage; rank: number } => entry.rank !== null)
    .sort((a, b) => a.rank - b.rank || a.image.order - b.image.order)
    .map(({ image }) => image)
}
