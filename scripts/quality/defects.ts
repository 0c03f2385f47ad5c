import { type BodyKeypoints, measureKeypoints, type Side } from '../../worker/vision/body/keypoints.ts'
import type { Result } from '../../worker/vision/quality/scene.ts'
import { labToRgb, rgbToLab } from '../../worker/vision/raster/colour.ts'
import { fillSmoothly } from '../../worker/vision/raster/fill.ts'
import { gaussianBlurColours } from '../../worker/vision/raster/filter.ts'
import { countSet, invert, maskWhere, subset } from '../../worker/vision/raster/mask.ts'
import { dilate, erode } from '../../worker/vision/raster/morphology.ts'
import {
  bitmapToColours,
  type Colours,
  coloursToBitmap,
  type Mask,
  maskToPlane,
  type Point,
} from '../../worker/vision/raster/plane.ts'
import { fillCapsules } from '../../worker/vision/raster/polygon.ts'
import { between } from '../../worker/vision/raster/vector.ts'

/** A good result, and the region of its garment. */
export interface Sound extends Result {
  readonly worn: Mask
  readonly part: 'top' | 'lower' | 'both'
}

interface Place {
  readonly sound: Sound
  readonly keypoints: BodyKeypoints
  /** Three joints of an arm or, for a lower garment, of a leg. */
  readonly limb: readonly Point[]
  /** The result, the photo, and the background extrapolated behind the person. */
  readonly image: Colours
  readonly photo: Colours
  readonly background: () => Colours
}

/** Region, kind and strength of a damage. */
interface Damage {
  readonly where: Mask
  readonly by: Colours
  readonly share?: number
}

/** Typical defects of try-ons, each as a change of a good result. */
export const DEFECTS: Readonly<Record<string, (place: Place) => Damage>> = {
  hole: ({ sound: { worn }, keypoints, background }) => {
    const middle = middleOf(erode(worn, 0.08 * keypoints.unit))
    const radius = 0.1 * keypoints.unit
    return {
      where: subset(fillCapsules(worn, [middle, middle], [radius, radius]), (i) => worn.data[i] === 1),
      by: background(),
    }
  },
  'stub arm': ({ sound: { worn }, keypoints, limb, background }) => ({
    where: fillCapsules(worn, limb.slice(1), [0.17 * keypoints.unit, 0.15 * keypoints.unit]),
    by: background(),
  }),
  'leftover sleeve': ({ sound: { worn }, keypoints, limb: [root, joint, end], photo }) => ({
    where: fillCapsules(
      worn,
      [between(root, joint, 0.4), joint, between(joint, end, 0.4)],
      [0.2 * keypoints.unit, 0.2 * keypoints.unit, 0.16 * keypoints.unit],
    ),
    by: photo,
  }),
  'shifted print': ({ sound: { worn }, keypoints, image }) => ({
    where: erode(worn, 0.1 * keypoints.unit),
    by: shifted(image, { x: Math.round(0.18 * keypoints.unit), y: 0 }),
  }),
  blur: ({ sound: { worn }, keypoints, image }) => ({
    where: worn,
    by: gaussianBlurColours(image, 0.04 * keypoints.unit),
  }),
  'colour cast': ({ sound: { worn }, image }) => ({ where: worn, by: tinted(image, [4, 9, -13]) }),
  seam: ({ sound: { change }, keypoints, image }) => {
    const changed = maskWhere(change, (i) => change.data[i] > 0.5)
    const width = Math.max(1, 0.012 * keypoints.unit)
    const inner = erode(changed, width)
    return { where: subset(dilate(changed, width), (i) => !inner.data[i]), by: tinted(image, [45, 0, 0]), share: 0.7 }
  },
  'missing hem': ({ sound: { worn }, photo }) => {
    let rest = 0.18 * countSet(worn)
    let first = worn.data.length
    while (rest > 0) rest -= worn.data[--first]
    return { where: subset(worn, (i) => i > first), by: photo }
  },
  'doubled edge': ({ sound: { worn }, keypoints, image }) => {
    const inner = erode(worn, 0.1 * keypoints.unit)
    const offset = { x: Math.round(0.08 * keypoints.unit), y: Math.round(0.03 * keypoints.unit) }
    return {
      where: subset(dilate(worn, 0.1 * keypoints.unit), (i) => !inner.data[i]),
      by: shifted(image, offset),
      share: 0.5,
    }
  },
}

// Below this mean ΔE, or on a smaller area in squared body units, a defect is invisible.
const VISIBLE = { difference: 6, area: 0.015 } as const

/** The result with a defect; null if the defect would be invisible. */
export function damage(sound: Sound, defect: string, side: Side = 0): Result | null {
  const keypoints = measureKeypoints(sound.person)
  const { shoulder, elbow, wrist, hip, knee, ankle } = keypoints.joints
  const limb =
    sound.part === 'lower' ? [hip[side], knee[side], ankle[side]] : [shoulder[side], elbow[side], wrist[side]]
  const [image, photo] = [bitmapToColours(sound.image), bitmapToColours(sound.photo)]
  const background = () => backgroundOf(sound, keypoints.unit)
  const { where, by, share = 1 } = DEFECTS[defect]({ sound, keypoints, limb, image, photo, background })
  const damaged = mix(image, { where, by, share })
  return isVisible(image, damaged, { where, unit: keypoints.unit })
    ? {
        ...sound,
        image: coloursToBitmap(damaged),
        change: { ...sound.change, data: sound.change.data.map((value, i) => Math.max(value, where.data[i])) },
      }
    : null
}

function mix({ data, ...size }: Colours, { where, by, share }: Required<Damage>): Colours {
  return {
    ...size,
    data: data.map((value, k) => (where.data[Math.floor(k / 3)] ? value + share * (by.data[k] - value) : value)),
  }
}

function isVisible(a: Colours, b: Colours, { where, unit }: { where: Mask; unit: number }): boolean {
  const [p, q] = [rgbToLab(a).data, rgbToLab(b).data]
  const seen = subset(
    where,
    (i) =>
      Math.hypot(p[3 * i] - q[3 * i], p[3 * i + 1] - q[3 * i + 1], p[3 * i + 2] - q[3 * i + 2]) > VISIBLE.difference,
  )
  return countSet(seen) > VISIBLE.area * unit ** 2
}

function backgroundOf({ photo, person, worn }: Sound, unit: number): Colours {
  const near = dilate(
    maskWhere(worn, (i) => person.mask.data[i] > 0.1 || worn.data[i] === 1),
    0.05 * unit,
  )
  return fillSmoothly(bitmapToColours(photo), maskToPlane(invert(near)))
}

function middleOf({ width, data }: Mask): Point {
  let [x, y, count] = [0, 0, 0]
  for (let i = 0; i < data.length; i++) {
    if (!data[i]) continue
    x += i % width
    y += Math.floor(i / width)
    count++
  }
  return { x: x / Math.max(1, count), y: y / Math.max(1, count) }
}

function shifted({ width, height, data, channels }: Colours, by: Point): Colours {
  const out = new Float32Array(data.length)
  for (let i = 0; i < width * height; i++) {
    const x = Math.min(width - 1, Math.max(0, (i % width) - by.x))
    const y = Math.min(height - 1, Math.max(0, Math.floor(i / width) - by.y))
    for (let c = 0; c < 3; c++) out[3 * i + c] = data[3 * (y * width + x) + c]
  }
  return { width, height, channels, data: out }
}

function tinted(rgb: Colours, by: readonly [number, number, number]): Colours {
  const lab = rgbToLab(rgb)
  return labToRgb({ ...lab, data: lab.data.map((value, k) => value + by[k % 3]) })
}
