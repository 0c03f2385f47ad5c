import type { Bitmap } from '../../../api/shared/image/image.ts'
import type { Session } from '../../inference/session.ts'
import { resizeArea } from '../../vision/raster/sample.ts'

/** Probabilities of the classifier, 0 to 1. */
export interface Exposure {
  /** Pornographic photo or drawing. */
  readonly nude: number
  /** `nude`, or a photo that emphasises the body. Also high for ordinary clothes of women: no reason to refuse by itself. */
  readonly suggestive: number
}

/** Name of the classifier in the model folder. */
export const EXPOSURE_MODEL = 'exposure'

const SIDE = 224
/** Order of the classifier's output. */
const CLASSES = ['drawing', 'hentai', 'neutral', 'porn', 'sexy'] as const

/**
 * Classifies an RGB bitmap.
 * @throws Error if the model returns NaN, which no limit would refuse
 */
export async function classifyExposure(bitmap: Bitmap, session: Session): Promise<Exposure> {
  const [hentai, porn, sexy] = (['hentai', 'porn', 'sexy'] as const).map((name) => CLASSES.indexOf(name))
  const { classes } = await session.run({ image: { shape: [1, SIDE, SIDE, 3], data: toInput(bitmap) } })
  const nude = classes.data[hentai] + classes.data[porn]
  const suggestive = nude + classes.data[sexy]
  if (Number.isNaN(suggestive)) throw new Error('The exposure model returned NaN.')
  return { nude, suggestive }
}

/** The whole RGB bitmap in the classifier's size, which ignores the aspect; 0 to 1. */
export function toInput(bitmap: Bitmap): Float32Array {
  return resizeArea(bitmap, { width: SIDE, height: SIDE }).map((value) => value / 255)
}
