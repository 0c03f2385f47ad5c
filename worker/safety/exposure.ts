import type { Bitmap } from '../../api/shared/image.ts'
import type { Session } from '../inference/session.ts'
import { resizeArea } from '../raster/sample.ts'

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

/** Classifies a photo; transparent pixels count as white. */
export async function classifyExposure(bitmap: Bitmap, session: Session): Promise<Exposure> {
  const [hentai, porn, sexy] = (['hentai', 'porn', 'sexy'] as const).map((name) => CLASSES.indexOf(name))
  const { classes } = await session.run({ image: { shape: [1, SIDE, SIDE, 3], data: toInput(bitmap) } })
  const nude = classes.data[hentai] + classes.data[porn]
  return { nude, suggestive: nude + classes.data[sexy] }
}

/** The whole photo in the classifier's size, which ignores the aspect; RGB in 0 to 1. */
export function toInput({ width, height, channels, data }: Bitmap): Float32Array {
  const pixels = resizeArea(
    { width, height, channels, data: channels === 4 ? premultiplied(data) : data },
    { width: SIDE, height: SIDE },
  )
  const input = new Float32Array(SIDE * SIDE * 3)
  for (let i = 0, j = 0; j < input.length; i += channels, j += 3) {
    const white = channels === 4 ? 255 - pixels[i + 3] : 0
    for (let c = 0; c < 3; c++) input[j + c] = (pixels[i + c] + white) / 255
  }
  return input
}

function premultiplied(data: Uint8Array): Uint8Array {
  const out = new Uint8Array(data)
  for (let i = 0; i < out.length; i += 4) for (let c = 0; c < 3; c++) out[i + c] = (out[i + c] * out[i + 3]) / 255
  return out
}
