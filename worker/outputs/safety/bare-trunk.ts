import { DrapeError } from '../../../api/shared/contract/errors.ts'
import type { Side } from '../../vision/body/keypoints.ts'
import { cutOut } from '../../vision/garment/cut-out/cut-out.ts'
import { distanceToPalette, paletteOf } from '../../vision/garment/garment-palette.ts'
import type { Person } from '../../vision/person/person.ts'
import type { Cluster } from '../../vision/raster/clusters.ts'
import { type Lab, rgbToLab } from '../../vision/raster/colour.ts'
import { countSet, subset, threshold } from '../../vision/raster/mask.ts'
import { erode } from '../../vision/raster/morphology.ts'
import {
  type Bitmap,
  bitmapToColours,
  type Colours,
  coloursToBitmap,
  createPlane,
  type Mask,
} from '../../vision/raster/plane.ts'
import { fillPolygon } from '../../vision/raster/polygon.ts'
import { resizeAreaColours } from '../../vision/raster/sample.ts'
import { between } from '../../vision/raster/vector.ts'
import { type DrawnPhoto, type Scene, sceneOf } from './scene.ts'

/** Share of the trunk that shows skin, 0 to 1. */
export interface BareTrunk {
  readonly before: number
  readonly after: number
  /** Share that shows skin after and did not before. */
  readonly bared: number
}

/** Colour distance below which a pixel is skin, in CIE Lab. */
const LIKE_SKIN = { colour: 12, lightness: 32 }
/** Colour distance below which a pixel is the product's cloth, in whose folds colours differ. */
const LIKE_GARMENT = 14
/** Smaller parts of the product, such as its label, explain no skin. */
const MIN_GARMENT_SHARE = 0.1
/** Longest side in px at which a product photo is examined. */
const PRODUCT_SIDE = 256
/** Part of the trunk that is measured, in body coordinates: below the collarbones down to the crotch, without the arms. */
const TRUNK = { top: 0.2, bottom: 1.15, side: 0.85 }

/**
 * Measures the skin of the trunk before and after the change; null if the person is too small, turned away, or has no visible face.
 * Changed pixels in the colours of `garment` are cloth: beige clothes resemble skin.
 */
export function measureBareTrunk(result: DrawnPhoto & { readonly garment?: Bitmap }): BareTrunk | null {
  const scene = sceneOf(result)
  if (!scene) return null
  const face = fillPolygon(scene.change, scene.person.face ?? [])
  const skin = meanOf(scene.before, erode(face, 0.04 * scene.keypoints.unit))
  const trunk = subset(trunkOf(scene), (i) => scene.person.mask.data[i] > 0.5)
  const size = countSet(trunk)
  if (!skin || size === 0) return null
  const before = skinIn(scene.before, skin, trunk)
  const after = skinIn(scene.after, skin, trunk)
  const palette = result.garment ? clothOf(result.garment) : []
  const isCloth = (i: number) => palette.length > 0 && distanceToPalette(scene.after, i, palette) < LIKE_GARMENT
  const bared = subset(after, (i) => before.data[i] === 0 && !isCloth(i))
  const share = (mask: Mask) => countSet(mask) / size
  return { before: share(before), after: share(after), bared: share(bared) }
}

/** Measures the skin of the trunk in a photo. */
export function measureTrunk(photo: Bitmap, person: Person): number | null {
  return measureBareTrunk({ photo, person, image: photo, change: createPlane(photo) })?.before ?? null
}

function trunkOf({ keypoints: { joints, shoulders, hips }, change }: Scene): Mask {
  const at = (side: Side, down: number) => {
    const edge = between(joints.shoulder[side], joints.hip[side], down)
    return between(between(shoulders, hips, down), edge, TRUNK.side)
  }
  return fillPolygon(change, [at(0, TRUNK.top), at(1, TRUNK.top), at(1, TRUNK.bottom), at(0, TRUNK.bottom)])
}

function skinIn({ data }: Colours, colour: Lab, within: Mask): Mask {
  return subset(within, (i) => {
    const [lightness, a, b] = [0, 1, 2].map((c) => data[3 * i + c] - colour[c])
    return Math.hypot(a, b) < LIKE_SKIN.colour && Math.abs(lightness) < LIKE_SKIN.lightness
  })
}

/** The colours of a product; none if it cannot be separated from its surroundings, as on a person. */
function clothOf(photo: Bitmap): readonly Cluster[] {
  const scale = Math.min(1, PRODUCT_SIDE / Math.max(photo.width, photo.height))
  const size = { width: Math.ceil(photo.width * scale), height: Math.ceil(photo.height * scale) }
  try {
    const { colours, alpha } = cutOut(coloursToBitmap(resizeAreaColours(photo, size)))
    const cloth = paletteOf(rgbToLab(bitmapToColours(colours)), threshold(alpha, 0.95))
    return cloth.filter(({ share }) => share >= MIN_GARMENT_SHARE)
  } catch (error) {
    if (error instanceof DrapeError) return []
    throw error
  }
}

/** The mean colour within a mask; null for an empty one. */
function meanOf({ data }: Colours, mask: Mask): Lab | null {
  const sum = [0, 0, 0]
  let count = 0
  for (let i = 0; i < mask.data.length; i++) {
    if (!mask.data[i]) continue
    count++
    for (let c = 0; c < 3; c++) sum[c] += data[3 * i + c]
  }
  return count > 0 ? [sum[0] / count, sum[1] / count, sum[2] / count] : null
}
