import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { decodeImage } from '../../../../../api/shared/image/image.ts'
import { HIDDEN } from '../../../../../worker/engines/fashn-vton/canvas.ts'
import { agnosticMask } from '../../../../../worker/engines/fashn-vton/masked/agnostic-mask.ts'
import { anyOf, COVERED, type Labels } from '../../../../../worker/engines/fashn-vton/parser/labels.ts'
import { paintOver } from '../../../../../worker/engines/fashn-vton/parser/paint-over.ts'
import { maskWhere } from '../../../../../worker/vision/raster/mask.ts'
import type { Mask } from '../../../../../worker/vision/raster/plane.ts'

const MASKS = new URL('../../../../fixtures/fashn-vton/masks/', import.meta.url)

describe('masks for FASHN VTON', async () => {
  const read = async (name: string) => {
    const { width, height, channels, data } = await decodeImage(await readFile(new URL(`${name}.png`, MASKS)))
    return { width, height, data: data.filter((_, i) => i % channels === 0) }
  }
  const labels: Labels = await read('segmentation')
  const large: Labels = (() => {
    const height = 864
    const width = 664
    const data = Uint8Array.from({ length: width * height }, (_, i) => {
      const x = Math.floor(((i % width) * labels.width) / width)
      const y = Math.floor((Math.floor(i / width) * labels.height) / height)
      return labels.data[y * labels.width + x]
    })
    return { width, height, data }
  })()

  it.each(['tops', 'bottoms', 'one-pieces'] as const)('match the reference: a person for %s', async (category) => {
    expectEqual(agnosticMask(labels, category), await read(`${category}_person`))
  })

  it.each(['tops', 'bottoms', 'one-pieces'] as const)(
    'match the reference at full height: a person for %s',
    async (category) => {
      const wanted = await read(`${category}_person_864`)
      expect([large.width, large.height]).toEqual([wanted.width, wanted.height])
      expectEqual(agnosticMask(large, category), wanted)
    },
  )

  it.each(['tops', 'bottoms', 'one-pieces'] as const)('match the reference: a garment of %s', async (category) => {
    const bitmap = await decodeImage(await readFile(new URL('../images/img_a_source.png', MASKS)))
    const garment = anyOf(labels, COVERED[category].clothes)
    const others = maskWhere(garment, (i) => garment.data[i] === 0)
    const wanted = await decodeImage(await readFile(new URL(`${category}_garment.png`, MASKS)))
    expect(Buffer.from(paintOver(bitmap, others, HIDDEN).data).equals(Buffer.from(wanted.data))).toBe(true)
  })

  it('are empty without a person', () => {
    const nobody = { ...labels, data: new Uint8Array(labels.data.length) }
    expect(agnosticMask(nobody, 'tops').data.some((value) => value === 1)).toBe(false)
  })
})

function expectEqual({ width, height, data }: Mask, wanted: Labels): void {
  expect([width, height]).toEqual([wanted.width, wanted.height])
  const different = data.filter((value, i) => (value === 1) !== wanted.data[i] > 0).length
  expect(different).toBe(0)
}
