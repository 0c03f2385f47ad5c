import { describe, expect, it } from 'vitest'
import { findStrands } from '../../../../worker/vision/body/hair-labels.ts'
import { createRandom } from '../../../../worker/vision/raster/clusters.ts'
import { countSet, maskWhere } from '../../../../worker/vision/raster/mask.ts'
import type { Colours, Mask } from '../../../../worker/vision/raster/plane.ts'

const SIZE = { width: 200, height: 300 }
const UNIT = 160
const COLLAR = 80
const FALLS_TO = 170

const column = (i: number) => i % SIZE.width
const row = (i: number) => Math.floor(i / SIZE.width)
const inHair = (i: number) => column(i) > 40 && column(i) < 90 && row(i) < FALLS_TO

// Hair in fine lines that run down, over a top of the same black with the noise of a camera.
function blackOnBlack({ lines }: { lines: number }): Colours {
  const random = createRandom(5)
  const strands = Float32Array.from({ length: SIZE.width }, () => lines * random())
  const data = new Float32Array(SIZE.width * SIZE.height * 3)
  for (let i = 0; i < SIZE.width * SIZE.height; i++) data[3 * i] = 6 + random() + (inHair(i) ? strands[column(i)] : 0)
  return { ...SIZE, channels: 3, data }
}

const all = maskWhere(SIZE, (i) => row(i) >= COLLAR || inHair(i))
const known = {
  dark: all,
  hair: maskWhere(SIZE, (i) => inHair(i) && row(i) < COLLAR && row(i) > 20),
  cloth: maskWhere(SIZE, (i) => row(i) > 220),
  either: maskWhere(SIZE, (i) => row(i) >= COLLAR),
  unit: UNIT,
}
const below = maskWhere(SIZE, (i) => inHair(i) && row(i) >= COLLAR)
const share = (of: Mask, within: Mask) =>
  of.data.reduce((sum, set, i) => sum + (set & within.data[i]), 0) / Math.max(1, countSet(of))

describe('black hair over a black top', () => {
  it('includes all visible strands, and ends with them', () => {
    const found = findStrands(blackOnBlack({ lines: 12 }), known)
    expect(share(below, found)).toBeGreaterThan(0.95)
    expect(share(found, below)).toBeGreaterThan(0.85)
  })

  it('includes a short length when strands cannot be distinguished from cloth', () => {
    const found = findStrands(blackOnBlack({ lines: 0 }), known)
    const near = maskWhere(SIZE, (i) => below.data[i] === 1 && row(i) < COLLAR + 0.2 * UNIT)
    expect(share(near, found)).toBe(1)
    expect(share(found, below)).toBe(1)
  })
})
