import { expect, it } from 'vitest'
import { DrapeError } from '../../../api/shared/contract/errors.ts'
import type { Layer, TryOnJob } from '../../../api/shared/generations/generation.ts'
import type { TryOnResult } from '../../../worker/inference/protocol.ts'
import { drawLayers, type PlacedPass, withFields } from '../../../worker/job/layers.ts'

const CROP = { x: 1, y: 2, width: 30, height: 40 }
const PHOTO = { photo: Buffer.from('photo'), crop: 'auto' } as const

const productOf = (id: string) => ({ id, imagesEdition: '1', title: id, description: null, images: [] })

function jobOf(layers: readonly Layer[], options: Partial<TryOnJob['options']> = {}) {
  return {
    product: productOf(layers[0]),
    layers: layers.map((layer, i) => ({ layer, product: productOf(`${layer} ${i}`) })),
    options: { watermark: true, seed: 1, mode: 'balanced', format: 'webp', fullResolution: false, ...options },
  } as unknown as TryOnJob
}

const resultOf = (text: string, changes: Partial<TryOnResult> = {}): TryOnResult => ({
  image: Buffer.from(text),
  hash: null,
  format: 'png',
  seed: 1,
  warnings: [],
  timings: { engine: 10 },
  category: 'tops',
  quality: 0.9,
  detected: null,
  found: { crop: CROP, personDetected: true, warnings: [] },
  engine: { name: 'warp', version: '1', license: 'Apache-2.0', kind: 'preview' },
  ...changes,
})

/** Draws by writing the names of the products one after the other. */
function createPen(refuse: Readonly<Record<string, DrapeError>> = {}, changes: Partial<TryOnResult> = {}) {
  const passes: PlacedPass[] = []
  const draw = async (pass: PlacedPass) => {
    passes.push(pass)
    if (Object.hasOwn(refuse, pass.product.id)) throw refuse[pass.product.id]
    return resultOf(`${Buffer.from(pass.under.photo)} + ${pass.product.id}${pass.isLast ? '.' : ''}`, changes)
  }
  const steps = () =>
    passes.map(({ product, under, isLast, index }) => [index, product.id, under.crop, isLast ? 'last' : ''])
  return { draw, passes, steps }
}

const refusal = new DrapeError('RESULT_REJECTED', 'The pose hides it.')

it('draws the innermost layer first, each on the result before, in the order of the call where layers are equal', async () => {
  const pen = createPen()
  const drawn = await drawLayers(jobOf(['outerwear', 'tops', 'outerwear', 'bottoms']), PHOTO, pen.draw)
  expect(pen.steps()).toEqual([
    [3, 'bottoms 3', 'auto', ''],
    [1, 'tops 1', 'none', ''],
    [0, 'outerwear 0', 'none', ''],
    [2, 'outerwear 2', 'none', 'last'],
  ])
  expect(Buffer.from(drawn.image).toString()).toBe('photo + bottoms 3 + tops 1 + outerwear 0 + outerwear 2.')
  expect(drawn).toMatchObject({ timings: { engine: 40 }, category: null, quality: 0.9, found: { crop: CROP } })
  expect(drawn.layers?.map(({ applied }) => applied)).toEqual([true, true, true, true])
  expect(pen.passes.map(({ progress }) => progress)).toEqual([0, 1, 2, 3].map((i) => [i / 4, (i + 1) / 4]))
})

it('passes the positions of face and hands on to later passes', async () => {
  const body = { face: null, hands: [] }
  const pen = createPen({}, { body })
  await drawLayers(jobOf(['bottoms', 'tops']), PHOTO, pen.draw)
  expect(pen.passes.map(({ under }) => under.body)).toEqual([undefined, body])
})

it('keeps the crop in full resolution, whose results are whole frames', async () => {
  const pen = createPen()
  await drawLayers(jobOf(['bottoms', 'tops', 'outerwear'], { fullResolution: true }), PHOTO, pen.draw)
  expect(pen.steps().map(([, , crop]) => crop)).toEqual(['auto', CROP, CROP])
})

it('draws a single product as it is', async () => {
  const pen = createPen()
  const { layers, category } = await drawLayers({ ...jobOf(['tops']), layers: null }, PHOTO, pen.draw)
  expect({ layers, category }).toEqual({ layers: undefined, category: 'tops' })
  expect(pen.steps()).toEqual([[0, 'tops', 'auto', 'last']])
})

it('leaves out what the engine refuses, and finishes the layer below', async () => {
  const job = jobOf(['outerwear', 'tops', 'bottoms'], { partial: true })
  const pen = createPen(
    { 'outerwear 0': refusal, 'bottoms 2': refusal },
    { warnings: ['SLEEVE_FOLDED'], quality: null },
  )
  const drawn = await drawLayers(job, PHOTO, pen.draw)
  expect(pen.steps()).toEqual([
    [2, 'bottoms 2', 'auto', ''],
    [1, 'tops 1', 'auto', ''],
    [0, 'outerwear 0', 'none', 'last'],
    [1, 'tops 1', 'auto', 'last'],
  ])
  expect(Buffer.from(drawn.image).toString()).toBe('photo + tops 1.')
  const out = {
    applied: false,
    warnings: [],
    quality: null,
    errorCode: 'RESULT_REJECTED',
    errorMessage: refusal.message,
  }
  const worn = { applied: true, warnings: ['SLEEVE_FOLDED'], quality: null, errorCode: null, errorMessage: null }
  expect(drawn).toMatchObject({ warnings: ['SLEEVE_FOLDED', 'PRODUCT_LEFT_OUT'], quality: null })
  expect(drawn.layers).toEqual([out, worn, out])
  expect(drawn.applied.map(({ pass }) => pass.index)).toEqual([1])
})

it('draws a closed jacket on the picture without the tops that it hides', async () => {
  const hides = new Map([['outerwear 0', 0.4]])
  const pen = createPen()
  const draw = async (pass: PlacedPass) => {
    const result = await pen.draw(pass)
    const quality = hides.get(pass.product.id) ?? (pass.layer === 'tops' ? 0.2 : 0.9)
    return { ...result, quality, hidesTops: hides.has(pass.product.id), warnings: [`OF_${pass.layer}`] }
  }
  const drawn = await drawLayers(jobOf(['outerwear', 'tops', 'bottoms', 'outerwear']), PHOTO, draw)
  expect(pen.steps()).toEqual([
    [2, 'bottoms 2', 'auto', ''],
    [1, 'tops 1', 'none', ''],
    [0, 'outerwear 0', 'none', ''],
    [0, 'outerwear 0', 'none', ''],
    [3, 'outerwear 3', 'none', 'last'],
  ])
  expect(Buffer.from(drawn.image).toString()).toBe('photo + bottoms 2 + outerwear 0 + outerwear 3.')
  expect(drawn).toMatchObject({ warnings: ['OF_bottoms', 'OF_outerwear', 'PRODUCT_HIDDEN'], quality: 0.4 })
  expect(drawn.layers?.[1]).toEqual({
    applied: true,
    warnings: ['PRODUCT_HIDDEN'],
    quality: null,
    errorCode: null,
    errorMessage: null,
  })
  expect(drawn.layers?.map(({ applied }) => applied)).toEqual([true, true, true, true])
  expect(drawn.applied.map(({ pass }) => pass.index)).toEqual([2, 0, 3])
  expect(pen.passes.map(({ progress }) => progress)).toEqual([
    [0, 1 / 4],
    [1 / 4, 2 / 4],
    [2 / 4, 3 / 4],
    [3 / 4, 3 / 4],
    [3 / 4, 1],
  ])
})

it('keeps the picture with the top if the jacket that hides it is refused without it', async () => {
  const pen = createPen()
  const draw = async (pass: PlacedPass) => {
    if (pass.layer === 'outerwear' && pass.under.crop === 'auto') throw refusal
    return { ...(await pen.draw(pass)), hidesTops: true }
  }
  const drawn = await drawLayers(jobOf(['tops', 'outerwear']), PHOTO, draw)
  expect(Buffer.from(drawn.image).toString()).toBe('photo + tops 0 + outerwear 1.')
  expect(drawn.layers?.map(({ applied, warnings }) => [applied, warnings])).toEqual([
    [true, ['PRODUCT_HIDDEN']],
    [true, []],
  ])
})

it('throws the first refusal of all, of a job that needs all products, of a safety check, and errors to retry', async () => {
  const other = new DrapeError('PRODUCT_IMAGE_FETCH_FAILED', 'It is gone.')
  const all = createPen({ 'bottoms 1': refusal, 'tops 0': other })
  await expect(drawLayers(jobOf(['tops', 'bottoms'], { partial: true }), PHOTO, all.draw)).rejects.toBe(refusal)
  const nude = new DrapeError('NUDITY_DETECTED', 'Nude.', { check: 'nudity' })
  const broken = new DrapeError('GENERATION_FAILED', 'Crashed.', { retryable: true })
  for (const [error, partial] of [
    [refusal, false],
    [nude, true],
    [broken, true],
  ] as const) {
    const pen = createPen({ 'bottoms 1': error })
    await expect(drawLayers(jobOf(['tops', 'bottoms'], { partial }), PHOTO, pen.draw)).rejects.toBe(error)
    expect(pen.passes).toHaveLength(1)
  }
})

it('names the product of an error', () => {
  const ofProduct = new DrapeError('RESULT_REJECTED', 'Too dark.', { image: 'product' })
  expect(withFields(ofProduct, 2, 1)).toMatchObject({
    details: [{ path: 'products[2].images[1]', message: 'Too dark.' }],
  })
  const worn = new DrapeError('MISSING_REQUIRED_CLASSIFICATION', 'Worn.', { details: { key: 'flat_lay' } })
  expect(withFields(worn, 1, null)).toMatchObject({ details: [{ path: 'products[1].images', message: 'Worn.' }] })
  const retried = new DrapeError('GENERATION_FAILED', 'Crashed.', { retryable: true })
  expect(withFields(retried, 1, null)).toBe(retried)
})
