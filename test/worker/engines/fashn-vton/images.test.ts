import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { decodeImage } from '../../../../api/shared/image/image.ts'
import { fitOnCanvas, limitToCanvas, placeOnCanvas } from '../../../../worker/engines/fashn-vton/canvas.ts'
import { poseOf, type WholeBody } from '../../../../worker/engines/fashn-vton/keypoints.ts'
import { nearestPlaces } from '../../../../worker/engines/fashn-vton/resize-canvas.ts'
import { drawEllipse, drawLine } from '../../../../worker/engines/fashn-vton/shapes.ts'
import { drawSkeleton } from '../../../../worker/engines/fashn-vton/skeleton.ts'
import { type Bytes, createBytes } from '../../../../worker/vision/raster/bytes.ts'

const CANVAS = { width: 576, height: 864 }
const FOLDER = new URL('../../../fixtures/fashn-vton/images/', import.meta.url)
const readJson = async (name: string) => JSON.parse(await readFile(new URL(name, FOLDER), 'utf8'))

interface Published {
  readonly resize: Record<string, Record<'prefit' | 'result_after_crop' | 'padding_left_top_right_bottom', number[]>>
  readonly sha256: Record<string, string>
}

/** Keypoints and scores of the people in an image. */
interface Seen {
  readonly width: number
  readonly height: number
  readonly keypoints: [number, number][][]
  readonly scores: number[][]
}

// All of these are equal in every byte, so the digest of the published image says it.
describe('images for FASHN VTON', async () => {
  const published: Published = await readJson('expected.json')
  const expectPublished = ({ data }: Bytes, name: string) =>
    expect(createHash('sha256').update(data).digest('hex'), name).toBe(published.sha256[name])

  describe('on the canvas', () => {
    it.each(Object.keys(published.resize))('are as published: %s', async (name) => {
      const decoded = await decodeImage(await readFile(new URL(`img_${name}_source.png`, FOLDER)))
      const source: Bytes = { ...decoded, channels: 3 }
      expectPublished(source, `img_${name}_source`)
      const limited = limitToCanvas(source, CANVAS)
      const { prefit, result_after_crop, padding_left_top_right_bottom } = published.resize[name]
      expect([limited.width, limited.height]).toEqual(prefit)
      if (published.sha256[`img_${name}_prefit`]) expectPublished(limited, `img_${name}_prefit`)
      const { x, y, width, height } = placeOnCanvas(limited, CANVAS)
      expect([width, height]).toEqual(result_after_crop)
      expect([x, y, CANVAS.width - x - width, CANVAS.height - y - height]).toEqual(padding_left_top_right_bottom)
      expectPublished(fitOnCanvas(limited, CANVAS), `img_${name}_canvas`)
    })

    it('resize skeletons by nearest neighbor as the reference does', async () => {
      const sizes: Record<string, number[]> = await readJson('nearest-exact.json')
      expect(Object.keys(sizes)).toHaveLength(10)
      for (const [name, places] of Object.entries(sizes)) {
        const [from, to] = name.split('->').map(Number)
        expect(nearestPlaces(from, to), name).toEqual(places)
      }
    })

    it('keep at least 1 px on the short side', () => {
      const thin = createBytes({ width: 3, height: 4000 }, 3)
      const limited = limitToCanvas(thin, CANVAS)
      expect([limited.width, limited.height]).toEqual([1, 864])
      expect(fitOnCanvas(limited, CANVAS)).toMatchObject(CANVAS)
    })
  })

  describe('of skeletons', async () => {
    const cases: Record<string, Seen> = await readJson('keypoints.json')
    const peopleOf = ({ keypoints, scores }: Seen): WholeBody[] =>
      keypoints.map((points, person) => points.map(([x, y], i) => ({ x, y, score: scores[person][i] })))

    it.each(Object.entries(cases))('are as published: %s', (name, seen) => {
      const pose = poseOf(peopleOf(seen), seen)
      const skeleton = drawSkeleton(pose, seen)
      expectPublished(drawSkeleton({ ...pose, hands: [[], []], face: [] }, seen), `skeleton_${name}_body`)
      expectPublished(skeleton, `skeleton_${name}`)
      expectPublished(fitOnCanvas(skeleton, CANVAS, { exact: true }), `skeleton_${name}_canvas`)
    })

    it('are black without a person', () => {
      expectPublished(
        drawSkeleton(poseOf([], { width: 200, height: 260 }), { width: 200, height: 260 }),
        'skeleton_flatlay',
      )
    })
  })

  describe('of a hundred shapes', () => {
    let shapes: {
      ellipses: { center: [number, number]; half_length: number; angle: number; grey: number }[]
      lines: { a: [number, number]; b: [number, number]; grey: number }[]
    }
    beforeAll(async () => {
      shapes = await readJson('primitives.json')
    })
    const at = ([x, y]: [number, number]) => ({ x, y })

    it('match the reference: ellipses', () => {
      const bitmap = createBytes({ width: 420, height: 420 }, 1)
      for (const { center, half_length, angle, grey } of shapes.ellipses)
        drawEllipse(bitmap, { centre: at(center), radii: { x: half_length, y: 4 }, angle }, grey)
      expectPublished(bitmap, 'primitive_ellipses')
    })

    it('match the reference: lines', () => {
      const bitmap = createBytes({ width: 420, height: 420 }, 1)
      for (const { a, b, grey } of shapes.lines) drawLine(bitmap, [at(a), at(b)], grey)
      expectPublished(bitmap, 'primitive_lines')
    })
  })
})
