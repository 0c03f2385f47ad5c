import { bothSides, type Sides } from '../body/keypoints.ts'
import { distanceToPalette, paletteOf } from '../garment/garment-palette.ts'
import { deltaE, type Lab } from '../raster/colour.ts'
import { fillSmoothly } from '../raster/fill.ts'
import { intersect, invert, subset, threshold, union, without } from '../raster/mask.ts'
import { dilate, erode } from '../raster/morphology.ts'
import { type Colours, createMask, type Mask, maskToPlane } from '../raster/plane.ts'
import { fillBeyond, fillCapsules, fillPolygon } from '../raster/polygon.ts'
import { move, norm } from '../raster/vector.ts'
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
const LIKE_SKIN = { tint: 12, lightness: 32 } as const
const LIKE_BACKGROUND = 9
const LIKE_OLD = 8

export function gatherEvidence(scene: Scene, product: Product): Evidence {
  const { person, keypoints, before, after, change } = scene
  const changed = threshold(change, 0.5)
  const body = threshold(person.mask, 0.5)
  const toProduct = (i: number) => distanceToPalette(after, i, product.palette)
  const face = fillPolygon(change, person.face ?? [])
  const skinColour = meanOf(before, erode(face, 0.04 * keypoints.unit))
  const garment = subset(changed, (i) => toProduct(i) < LIKE_GARMENT)
  const likeSkin = skinMask(after, skinColour)
  const background = backgroundOf(scene)
  const toBackground = (i: number) => deltaE(after, i, background)
  const inside = intersect(erode(changed, 0.05 * keypoints.unit), body)
  const worn = paletteOf(before, without(inside, skinMask(before, skinColour)))
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
    skin: subset(likeSkin, (i) => !(toProduct(i) < 0.5 * LIKE_GARMENT)),
    background: subset(changed, (i) => toBackground(i) < LIKE_BACKGROUND),
    old: subset(
      without(intersect(dilate(changed, 0.15 * keypoints.unit), body), likeSkin),
      (i) => toProduct(i) >= LIKE_GARMENT && still(i) && deltaE(after, i, before) < LIKE_OLD,
    ),
    head: headOf(scene, face),
  }
}

function skinMask(lab: Colours, colour: Lab | null): Mask {
  const mask = createMask(lab)
  if (!colour) return mask
  for (let i = 0; i < mask.data.length; i++) mask.data[i] = isLike(lab, i, colour, LIKE_SKIN) ? 1 : 0
  return mask
}

/** Whether pixel `i` differs less than this from a colour: in tint (distance in a and b), and in lightness. */
function isLike({ data }: Colours, i: number, colour: Lab, max: { tint: number; lightness: number }): boolean {
  const tint = norm(data[3 * i + 1] - colour[1], data[3 * i + 2] - colour[2])
  return tint < max.tint && Math.abs(data[3 * i] - colour[0]) < max.lightness
}

// The background, extrapolated behind the person.
function backgroundOf({ before, person, keypoints }: Scene): Colours {
  const near = dilate(threshold(person.mask, 0.1), 0.05 * keypoints.unit)
  return fillSmoothly(before, maskToPlane(invert(near)))
}

// Face, hair, and the region above and beside them down to the shoulders.
function headOf({ keypoints, change }: Scene, face: Mask): Mask {
  const { shoulders, down, trunk } = keypoints
  return union(face, fillBeyond(change, move(shoulders, down, -0.25 * trunk), { x: -down.x, y: -down.y }))
}
