import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { DrapeError } from '../../../../api/shared/contract/errors.ts'
import { ENGINE_STAGES } from '../../../../api/shared/engines/stage-order.ts'
import { decodeImage, resizeBitmap } from '../../../../api/shared/image/image.ts'
import type { Engine, EngineContext, EngineInput, EngineResult } from '../../../../worker/engines/engine.ts'
import { blendChange } from '../../../../worker/vision/composite/blend.ts'
import type { LandmarkName } from '../../../../worker/vision/person/person.ts'
import { rgbToLab } from '../../../../worker/vision/raster/colour.ts'
import { maskWhere } from '../../../../worker/vision/raster/mask.ts'
import { dilate } from '../../../../worker/vision/raster/morphology.ts'
import { type Bitmap, bitmapToColours, type Mask, type Point } from '../../../../worker/vision/raster/plane.ts'
import { fillCapsules, fillPolygon } from '../../../../worker/vision/raster/polygon.ts'
import { dress, personIn, sharedEngine } from '../../../support/vision.ts'
import { type KnownGarment, readGarment } from '../../vision/garment/known-garments.ts'
import { type Figure, readFigure } from '../../vision/person/figures.ts'

let engine: Engine
const garments = new Map<string, KnownGarment>()

beforeAll(async () => {
  engine = await sharedEngine()
  for (const name of ['tshirt_mustard', 'tshirt_navy']) garments.set(name, await readGarment(name))
})

const quiet: EngineContext = { signal: new AbortController().signal, onProgress: () => {} }

const OPTIONS = { seed: 1, mode: 'balanced' } as const

interface Wearing {
  readonly garmentHash?: string
  readonly found?: EngineInput['found']
  readonly context?: EngineContext
}

/** A run of its own. */
function wear(
  person: Bitmap,
  garment: Bitmap,
  { garmentHash = 'none', found, context = quiet }: Wearing = {},
): Promise<EngineResult> {
  return engine.run({ person, garment, garmentHash, category: 'tops', options: OPTIONS, found }, context)
}

const garment = (name: string): Bitmap => {
  const known = garments.get(name)
  if (!known) throw new Error(`no garment ${name}`)
  return known.bitmap
}

const refusal = async (run: Promise<unknown>) => {
  const error = await run.then(
    () => null,
    (reason: unknown) => reason,
  )
  return error instanceof DrapeError ? { code: error.code, details: error.details } : error
}

async function readEyes(name: string): Promise<[Point, Point]> {
  const { joints } = JSON.parse(await readFile(`test/fixtures/persons/${name}.json`, 'utf8'))
  return [joints.right_eye, joints.left_eye]
}

// The walking figure's left hand is half behind its hip.
const clearHands = (name: string) => (name === 'walk-full' ? (['right'] as const) : (['left', 'right'] as const))

const meanLab = (bitmap: Bitmap, mask: Mask) => {
  const { data } = rgbToLab(bitmapToColours(bitmap))
  const sum = [0, 0, 0]
  let count = 0
  for (let i = 0; i < mask.data.length; i++) {
    if (!mask.data[i]) continue
    count++
    for (let c = 0; c < 3; c++) sum[c] += data[i * 3 + c]
  }
  return sum.map((value) => value / count)
}

const apart = (a: readonly number[], b: readonly number[]) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])

describe.each(['crossed-half', 'walk-full'] as const)('the warp engine on %s', (name) => {
  let figure: Figure
  let result: EngineResult
  let bitmap: Bitmap
  let joint: (landmark: LandmarkName) => Point

  beforeAll(async () => {
    figure = await readFigure(name)
    joint = (landmark) => {
      const found = figure.joints.find(([known]) => known === landmark)
      if (!found) throw new Error(`${name} shows no ${landmark}`)
      return found[1]
    }
    result = await dress({ person: figure.bitmap, garment: garment('tshirt_mustard') })
    bitmap = blendChange({ photo: figure.bitmap, ...result })
  })

  it('changes no byte outside the change mask', () => {
    const changed = result.change.data.filter((share) => share > 0).length
    expect(changed).toBeGreaterThan(0.02 * result.change.data.length)
    expect(changed).toBeLessThan(0.5 * result.change.data.length)
    const touched = bitmap.data.filter(
      (value, k) => result.change.data[Math.floor(k / 3)] === 0 && value !== figure.bitmap.data[k],
    )
    expect(touched.length).toBe(0)
  })

  it('changes nothing away from the person', () => {
    const near = dilate(figure.mask, 0.05 * figure.bodyHeight)
    expect(result.change.data.filter((share, i) => share > 0 && !near.data[i]).length).toBe(0)
  })

  it('shows the product color on the torso', () => {
    const [left, right] = [joint('rightShoulder'), joint('leftShoulder')]
    const [leftHip, rightHip] = [joint('rightHip'), joint('leftHip')]
    const at = (share: number, down: number): Point => {
      const top = { x: left.x + (right.x - left.x) * share, y: left.y + (right.y - left.y) * share }
      const bottom = {
        x: leftHip.x + (rightHip.x - leftHip.x) * share,
        y: leftHip.y + (rightHip.y - leftHip.y) * share,
      }
      return { x: top.x + (bottom.x - top.x) * down, y: top.y + (bottom.y - top.y) * down }
    }
    const chest = fillPolygon(bitmap, [at(0.3, 0.2), at(0.7, 0.2), at(0.7, 0.33), at(0.3, 0.33)])
    const known = garments.get('tshirt_mustard')
    if (!known) throw new Error('the fixture is missing')
    expect(apart(meanLab(bitmap, chest), meanLab(known.bitmap, known.mask))).toBeLessThan(5)
  })

  it('does not change face and hands', async () => {
    const eyes = await readEyes(name)
    const span = Math.hypot(eyes[0].x - eyes[1].x, eyes[0].y - eyes[1].y)
    const regions = [fillCapsules(bitmap, eyes, [1.2 * span, 1.2 * span])]
    for (const side of clearHands(name)) {
      const [elbow, wrist] = [joint(`${side}Elbow`), joint(`${side}Wrist`)]
      const palm = { x: wrist.x + 0.25 * (wrist.x - elbow.x), y: wrist.y + 0.25 * (wrist.y - elbow.y) }
      regions.push(fillCapsules(bitmap, [palm, palm], [3, 3]))
    }
    const kept = maskWhere(bitmap, (i) => regions.some((region) => region.data[i] === 1) && figure.mask.data[i] === 1)
    const changed = result.change.data.filter((share, i) => share > 0.02 && kept.data[i]).length
    expect(changed).toBe(0)
  })
})

describe('the warp engine', () => {
  it('removes an old long sleeve below a new short sleeve', async () => {
    const { bitmap: photo, joints } = await readFigure('crossed-half')
    const result = await dress({ person: photo, garment: garment('tshirt_mustard') })
    const bitmap = blendChange({ photo, ...result })
    const elbow = new Map(joints).get('rightElbow')
    const [eye] = await readEyes('crossed-half')
    if (!elbow) throw new Error('the fixture lacks an elbow')
    const arm = fillCapsules(bitmap, [elbow, { x: elbow.x + 6, y: elbow.y - 30 }], [12, 12])
    const cheek = fillCapsules(
      bitmap,
      [
        { x: eye.x, y: eye.y + 32 },
        { x: eye.x, y: eye.y + 36 },
      ],
      [8, 8],
    )
    expect(apart(meanLab(photo, arm), meanLab(photo, cheek))).toBeGreaterThan(30)
    expect(apart(meanLab(bitmap, arm), meanLab(photo, cheek))).toBeLessThan(15)
  })

  it('reports progress and stages, and returns the same for a garment that is new, cached or prefetched', async () => {
    const { bitmap } = await readFigure('apose-full')
    const shares: number[] = []
    const context = { ...quiet, onProgress: (share: number) => void shares.push(share) }
    const first = await wear(bitmap, garment('tshirt_navy'), { garmentHash: 'new', context })
    const names = Object.keys(first.timings)
    expect(names).toEqual(ENGINE_STAGES.filter((name) => names.includes(name)))
    expect(names).toEqual(
      expect.arrayContaining(['person', 'garment', 'body', 'parts', 'place', 'warp', 'remove', 'shade', 'order']),
    )
    expect(shares).toEqual(shares.toSorted((a, b) => a - b))
    expect(shares.at(-1)).toBe(1)

    const found = await personIn(bitmap)
    const kept = engine.cache?.count() ?? 0
    engine.prefetch?.({
      garment: garment('tshirt_navy'),
      garmentHash: 'prefetched',
      category: 'tops',
      options: OPTIONS,
    })
    expect(engine.cache?.count()).toBe(kept + 1)
    for (const garmentHash of ['new', 'prefetched']) {
      const again = await wear(bitmap, garment('tshirt_navy'), { garmentHash, found })
      expect(again.image).toEqual(first.image)
      expect(again.change).toEqual(first.change)
    }
    expect(engine.cache?.count()).toBe(kept + 1)
  })

  it('evicts a prefetched product that was never used', async () => {
    const kept = engine.cache?.count() ?? 0
    engine.prefetch?.({ garment: garment('tshirt_navy'), garmentHash: 'unasked', category: null, options: OPTIONS })
    engine.cache?.evict('unasked')
    expect(engine.cache?.count()).toBe(kept)
  })

  it('limits large photos to 1280 px and keeps their aspect ratio', async () => {
    const { bitmap } = await readFigure('heavy-half')
    const large = await resizeBitmap(bitmap, { longest: 1500 })
    const { image, change } = await dress({ person: large, garment: garment('tshirt_mustard') })
    expect([image.width, image.height, change.width, change.height]).toEqual([1024, 1280, 1024, 1280])
  })

  it('rejects a photo without a person', async () => {
    const empty: Bitmap = { width: 300, height: 400, channels: 3, data: new Uint8Array(360_000).fill(190) }
    expect(await refusal(wear(empty, garment('tshirt_navy')))).toMatchObject({ code: 'NO_PERSON_DETECTED' })
  })

  it('removes a dark jacket and its collar below a dark hat', async () => {
    const portrait = await decodeImage(await readFile('scripts/samples/persons/grace-hopper.jpg'))
    const { change } = await dress({ person: portrait, garment: garment('tshirt_mustard') })
    const changed = ([x, y]: readonly [number, number]) => change.data[y * change.width + x]
    const [shoulders, collar] = [[180, 350] as const, [345, 340] as const]
    expect(Math.min(...[shoulders, collar].map(changed))).toBeGreaterThan(0.95)
    const [hat, cheek] = [[200, 120] as const, [300, 230] as const]
    expect([hat, cheek].map(changed)).toEqual([0, 0])
  })

  it('rejects bare arms when the photo ends at the chest', async () => {
    const portrait = await decodeImage(await readFile('scripts/samples/persons/grace-hopper.jpg'))
    const tank = await decodeImage(await readFile('scripts/samples/garments/tank-green.jpg'))
    await expect(dress({ person: portrait, garment: tank })).rejects.toMatchObject({
      code: 'RESULT_REJECTED',
      message: expect.stringMatching(/ends at the chest/),
    })
  })

  it('rejects a person seen from the side', async () => {
    const photographer = await decodeImage(await readFile('scripts/samples/persons/photographer.jpg'))
    await expect(dress({ person: photographer, garment: garment('tshirt_mustard') })).rejects.toMatchObject({
      code: 'RESULT_REJECTED',
    })
  })

  it('stops between two stages with the reason of the signal', async () => {
    const { bitmap } = await readFigure('apose-full')
    const controller = new AbortController()
    const reason = new Error('cancelled')
    const shares: number[] = []
    const context = {
      signal: controller.signal,
      onProgress: (share: number) => {
        shares.push(share)
        if (share >= 0.5) controller.abort(reason)
      },
    }
    expect(await refusal(wear(bitmap, garment('tshirt_mustard'), { found: await personIn(bitmap), context }))).toBe(
      reason,
    )
    expect(shares.filter((share) => share >= 0.5).length).toBe(1)
  })
})
