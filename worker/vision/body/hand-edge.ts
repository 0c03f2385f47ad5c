import { apartInLight, type Lab } from '../raster/colour.ts'
import { dilate, erode } from '../raster/morphology.ts'
import { type Colours, type Mask, maskWhere, subset } from '../raster/plane.ts'
import { norm } from '../raster/vector.ts'

// Below this difference (ΔE) between hand and cloth a pixel between them cannot be assigned.
const MIN_APART = 12
// Weight of a difference in lightness, and max distance of a pixel from skin as a share of its distance from cloth.
const LIGHTNESS = 0.2
const LIKENESS = 0.7

/**
 * Pixels along the edge of hands that the smoothed labels assigned to the adjacent cloth. In the unblurred `lab` these pixels
 * resemble the hand within `reach` px more than the cloth there. `hands` is the region of the hands, `skin` the pixels labelled skin.
 */
export function findHandEdges(lab: Colours, { skin, hands, reach }: { skin: Mask; hands: Mask; reach: number }): Mask {
  const own = subset(hands, (i) => skin.data[i] === 1)
  const near = dilate(own, reach)
  const sure = erode(own, 1)
  const cloth = maskWhere(own, (i) => hands.data[i] === 1 && !near.data[i])
  const window = Math.ceil(2 * reach) + 2
  return subset(near, (i) => {
    if (own.data[i] || !hands.data[i]) return false
    const inside = meanAround(lab, i, { of: sure, window })
    const beside = meanAround(lab, i, { of: cloth, window })
    return inside !== null && beside !== null && isNearer(lab, i, { inside, beside })
  })
}

function meanAround(lab: Colours, i: number, { of, window }: { of: Mask; window: number }): Lab | null {
  const { width, height } = of
  const [x, y] = [i % width, Math.floor(i / width)]
  let [count, l, a, b] = [0, 0, 0, 0]
  for (let v = Math.max(0, y - window); v <= Math.min(height - 1, y + window); v++) {
    for (let u = Math.max(0, x - window); u <= Math.min(width - 1, x + window); u++) {
      const k = v * width + u
      if (!of.data[k]) continue
      count++
      l += lab.data[3 * k]
      a += lab.data[3 * k + 1]
      b += lab.data[3 * k + 2]
    }
  }
  return count > 0 ? [l / count, a / count, b / count] : null
}

// True for a pixel in the light or the shade of the hand: past the midpoint between cloth and hand, or of the hand's hue.
function isNearer(lab: Colours, i: number, { inside, beside }: { inside: Lab; beside: Lab }): boolean {
  const step = inside.map((value, c) => value - beside[c])
  const length = norm(step[0], step[1], step[2])
  if (length < MIN_APART) return false
  const along = step.reduce((sum, part, c) => sum + part * (lab.data[3 * i + c] - beside[c]), 0)
  if (along > 0.5 * length * length) return true
  const toHand = apartInLight(lab, i, { colour: inside, lightness: LIGHTNESS })
  return toHand < LIKENESS * apartInLight(lab, i, { colour: beside, lightness: LIGHTNESS })
}
