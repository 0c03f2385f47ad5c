import { largestComponent } from '../../raster/components.ts'
import { createGuidedFilter } from '../../raster/filter.ts'
import { threshold } from '../../raster/mask.ts'
import { open } from '../../raster/morphology.ts'
import { type Bitmap, type Colours, channelOf, type Mask, type Plane } from '../../raster/plane.ts'
import { resizeArea, resizeBilinear } from '../../raster/sample.ts'
import { GARMENT_MODELS, type RunGarmentModel } from '../garment-models.ts'

/** How likely each pixel of an opaque product photo belongs to its main object, 0 to 1, in the size of the model. */
export async function findSalience(photo: Bitmap, run: RunGarmentModel): Promise<Plane> {
  const { side } = GARMENT_MODELS.salience
  const size = { width: side, height: side }
  const image = resizeArea(photo, size).map((value) => value / 255)
  return { ...size, data: await run('salience', image) }
}

// Radius over the long side, and epsilon, of the filter that moves the edges of the coarse mask to those of the photo.
const EDGE = { radius: 0.008, epsilon: 1e-4 }
// Half of the width of the thinnest cloth over the long side: wires of hangers are thinner.
const WIRE = 0.006

/** The silhouette of the main object. `lab` is CIE Lab. */
export function silhouetteOfSalience(lab: Colours, salience: Plane): Mask {
  const longest = Math.max(lab.width, lab.height)
  const guide = channelOf(lab, 0)
  for (let i = 0; i < guide.data.length; i++) guide.data[i] /= 100
  const sharpen = createGuidedFilter(guide, { radius: EDGE.radius * longest, epsilon: EDGE.epsilon })
  const object = threshold(sharpen(resizeBilinear(salience, lab)), 0.5)
  return largestComponent(open(object, WIRE * longest))
}
