import { bothSides, type Sides } from '../body/keypoints.ts'
import { distanceToPalette, paletteOf } from '../garment/garment-palette.ts'
import { deltaE, type Lab } from '../raster/colour.ts'
import { fillSmoothly } from '../raster/fill.ts'
import { dilate, erode } from '../raster/morphology.ts'
import { type Colours, invert, type Mask, maskToPlane, maskWhere, subset } from '../raster/plane.ts'
import { fillCapsules, fillPolygon } from '../raster/polygon.ts'
import { norm } from '../raster/vector.ts'
import { meanOf } from './mean.ts'
import type { Product } from './product.ts'
import type { Scene } from './scene.ts'

/** Classification of every pixel of the result. All masks have the size of the scene. */
export interface Evidence {
  readonly scene: Scene
  readonly product: Product
  readonly changed: Mask
  readonly body: Mask
  /** Changed pixels in the product's colours. */
  readonly garment: Mask
  /** Pixels of the result in the colour of the face's skin. */
  readonly skin: Mask
  /** Changed pixels that resemble the background around the person. */
  readonly background: Mask
  /** Pixels that still show the worn garment: its colours, and no new colour. */
  readonly old: Mask
  /** Arms and hands, wide enough for sleeves, and the head with the region above it. */
  readonly arms: Sides<Mask>
  readonly head: Mask
  readonly skinColour: Lab | null
  /** ΔE of a pixel of the result to the product's colours; lightness counts half. */
  readonly toProduct: (i: number) => number
  /** ΔE of a pixel of the result to the background, extrapolated behind the person. */
  readonly toBackground: (i: number) => number
}

const LIKE_GARMENT = 11
const LIKE_SKIN = 12
const LIKE_BACKGROUND = 9
const LIKE_OLD = 8

export function gatherEvidence(scene: Scene, product: Product): Evidence {
  const { person, keypoints, before, after, change } = scene
  const changed = maskWhere(change, (i) => change.data[i] > 0.5)
  const body = maskWhere(change, (i) => person.mask.data[i] > 0.5)
  const toProduct = (i: number) => distanceToPalette(after, i, product.palette)
  const face = fillPolygon(change, person.face ?? [])
  const skinColour = meanOf(before, erode(face, 0.04 * keypoints.unit))
  const likeSkin = skinTest(after, skinColour)
  const garment = subset(changed, (i) => toProduct(i) < LIKE_GARMENT)
  const background = backgroundOf(scene)
  const toBackground = (i: number) => deltaE(after, i, background)
  const worn = paletteOf(
    before,
    subset(erode(changed, 0.05 * keypoints.unit), (i) => body.data[i] === 1 && !skinTest(before, skinColour)(i)),
  )
  const still = (i: number) => worn.length > 0 && distanceToPalette(after, i, worn) < LIKE_OLD
  const arms = bothSides((side) =>
    fillCapsules(
      change,
      [
        keypoints.joints.shoulder[side],
        keypoints.joints.elbow[side],
        keypoints.joints.wrist[side],
        keypoints.joints.knuckles[side],
      ],
      [0.22, 0.2, 0.17, 0.17].map((radius) => radius * keypoints.unit),
    ),
  )
  return {
    scene,
    product,
    changed,
    body,
    garment,
    arms,
    skinColour,
    toProduct,
    toBackground,
    skin: maskWhere(change, (i) => likeSkin(i) && !(toProduct(i) < 0.5 * LIKE_GARMENT)),
    background: subset(changed, (i) => toBackground(i) < LIKE_BACKGROUND),
    old: subset(dilate(changed, 0.15 * keypoints.unit), (i) => {
      if (!body.data[i] || likeSkin(i) || toProduct(i) < LIKE_GARMENT) return false
      return still(i) && deltaE(after, i, before) < LIKE_OLD
    }),
    head: headOf(scene, face),
  }
}

function skinTest({ data }: Colours, colour: Lab | null): (i: number) => boolean {
  if (!colour) return () => false
  return (i) => {
    const k = 3 * i
    return norm(data[k + 1] - colour[1], data[k + 2] - colour[2]) < LIKE_SKIN && Math.abs(data[k] - colour[0]) < 32
  }
}

// The background, extrapolated behind the person.
function backgroundOf({ before, person, keypoints }: Scene): Colours {
  const near = dilate(
    maskWhere(before, (i) => person.mask.data[i] > 0.1),
    0.05 * keypoints.unit,
  )
  return fillSmoothly(before, maskToPlane(invert(near)))
}

// Face, hair, and the region above and beside them down to the shoulders.
function headOf({ keypoints, change }: Scene, face: Mask): Mask {
  const { shoulders, down, trunk } = keypoints
  return maskWhere(change, (i) => {
    const x = (i % change.width) - shoulders.x
    const y = Math.floor(i / change.width) - shoulders.y
    return face.data[i] === 1 || (x * down.x + y * down.y) / trunk < -0.25
  })
}
