import type { Tensor } from '../../../inference/session.ts'
import type { Box } from '../../../vision/person/person.ts'
import type { Bytes } from '../../../vision/raster/bytes.ts'
import { bitmapToColours, mapChannels, type Size } from '../../../vision/raster/plane.ts'
import { warpAffinePlane } from '../../../vision/raster/sample.ts'
import type { Keypoint } from '../keypoints.ts'

/** Size of the network's input region relative to the person's box. */
const MARGIN = 1.25
/** Defined for red, green, blue, but applied to blue, green, red, as in the network's training. */
const MEAN = [123.675, 116.28, 103.53]
const DEVIATION = [58.395, 57.12, 57.375]
/** Bins per px of the input along each axis. */
const SPLIT = 2

/** The input region in the bitmap: around the box, with the aspect of the input. */
export function regionAround(box: Box, view: Size): Box {
  const [width, height] = [box.width * MARGIN, box.height * MARGIN]
  const aspect = view.width / view.height
  const size = width > height * aspect ? { width, height: width / aspect } : { width: height * aspect, height }
  return { x: box.x + box.width / 2 - size.width / 2, y: box.y + box.height / 2 - size.height / 2, ...size }
}

/** The region as network input, 1 × 3 × height × width, blue first; black outside the bitmap. */
export function viewRegion(bitmap: Bytes, region: Box, view: Size): Tensor {
  const scale = region.width / view.width
  const centre = { x: region.x + region.width / 2, y: region.y + region.height / 2 }
  const map = [scale, 0, centre.x - (scale * view.width) / 2, 0, scale, centre.y - (scale * view.height) / 2] as const
  const seen = mapChannels(bitmapToColours({ ...bitmap, channels: 3 }), (plane) => warpAffinePlane(plane, map, view))
  const pixels = view.width * view.height
  const data = new Float32Array(3 * pixels)
  for (let i = 0; i < pixels; i++) {
    for (let c = 0; c < 3; c++) data[c * pixels + i] = (Math.round(seen.data[i * 3 + 2 - c]) - MEAN[c]) / DEVIATION[c]
  }
  return { shape: [1, 3, view.height, view.width], data }
}

/**
 * Decodes the network's bin scores along both axes, 1 × points × bins, to points in px of the bitmap.
 * Source: Li et al. 2022, "SimCC: a Simple Coordinate Classification Perspective for Human Pose Estimation".
 */
export function decodePoints(across: Tensor, down: Tensor, { region, view }: { region: Box; view: Size }): Keypoint[] {
  const points = across.shape[1]
  return Array.from({ length: points }, (_, i) => {
    const [x, y] = [highestBin(across, i), highestBin(down, i)]
    const score = Math.min(x.score, y.score)
    // An invisible point is at the first bin but one before the view.
    const place = ({ at }: { at: number }) => (score <= 0 ? -1 : at) / SPLIT
    return {
      x: (place(x) / view.width) * region.width + region.x,
      y: (place(y) / view.height) * region.height + region.y,
      score,
    }
  })
}

function highestBin({ shape: [, , places], data }: Tensor, point: number): { at: number; score: number } {
  let at = 0
  for (let i = 1; i < places; i++) if (data[point * places + i] > data[point * places + at]) at = i
  return { at, score: data[point * places + at] }
}
