import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { decodeImage, decodeOnWhite, readLuminance } from '../../../../api/shared/image/image.ts'
import { heicImage } from '../../../support/heic-images.ts'
import { flatPng, iccpChunk, lookupProfile, namedProfile, withProfile } from '../../../support/labelled-images.ts'

const PROFILES = { srgb: await namedProfile('srgb'), p3: await namedProfile('p3') }

async function colourOf(file: Buffer): Promise<number[]> {
  const { data, channels } = await decodeImage(file)
  return [...data.subarray(0, channels)]
}

async function onWhite(file: Buffer): Promise<number[]> {
  return [...(await decodeOnWhite(file)).data.subarray(0, 3)]
}

function expectNear(actual: readonly number[], wanted: readonly number[], tolerance: number): void {
  expect(actual).toHaveLength(wanted.length)
  const distances = actual.map((value, i) => Math.abs(value - wanted[i]))
  expect(Math.max(...distances), `${actual} against ${wanted}`).toBeLessThanOrEqual(tolerance)
}

describe('a PNG of 16 bits', () => {
  const COLOURS = [
    [30, 180, 60],
    [200, 30, 40],
    [3, 4, 250],
    [12, 9, 20],
    [255, 255, 255],
  ]

  it.each(['srgb', 'p3'] as const)('has the colours of its 8-bit twin in the profile %s', async (name) => {
    for (const samples of COLOURS) {
      for (const [colourType, alpha] of [
        [2, []],
        [6, [128]],
      ] as const) {
        const png = { colourType, samples: [...samples, ...alpha], chunks: [iccpChunk(PROFILES[name])] }
        const [twin, deep] = [flatPng({ ...png, bits: 8 }), flatPng({ ...png, bits: 16 })]
        expectNear(await colourOf(deep), await colourOf(twin), 1)
        if (name === 'srgb') expectNear(await colourOf(deep), png.samples, 1)
        if (name === 'srgb') expectNear(await onWhite(deep), await onWhite(twin), 2)
        if (name === 'srgb')
          expectNear([...(await readLuminance(deep, { side: 8 }))], [...(await readLuminance(twin, { side: 8 }))], 3)
      }
    }
  })

  it.each([0, 2, 4, 6] as const)('keeps its colours without a profile, with colour type %i', async (colourType) => {
    const grey = colourType % 4 === 0
    const samples = [...(grey ? [90] : [200, 30, 40]), ...(colourType >= 4 ? [128] : [])]
    const wanted = grey ? [90, 90, 90, ...samples.slice(1)] : samples
    expect(await colourOf(flatPng({ bits: 16, colourType, samples }))).toEqual(wanted)
  })
})

describe('a profile of another kind of image', async () => {
  const image = sharp({ create: { width: 32, height: 32, channels: 3, background: { r: 200, g: 30, b: 40 } } })
  const jpegs = {
    RGB: await image.clone().jpeg({ quality: 100, chromaSubsampling: '4:4:4' }).toBuffer(),
    grey: await image.clone().toColourspace('b-w').jpeg({ quality: 100 }).toBuffer(),
    CMYK: await image.clone().toColourspace('cmyk').jpeg({ quality: 100 }).toBuffer(),
  }
  const lookups = ['Lab ', 'XYZ ', 'YCbr', 'HSV ', 'CMY ', 'GRAY'].map((space) => [space, 'mntr'] as const)
  const links = ['link', 'abst', 'nmcl'].map((profileClass) => ['RGB ', profileClass] as const)

  it.each([...lookups, ...links])('is ignored in a JPEG: %s of class %s', async (space, profileClass) => {
    const profile = lookupProfile({ space, profileClass })
    for (const jpeg of Object.values(jpegs)) {
      expect(await colourOf(withProfile(jpeg, profile))).toEqual(await colourOf(jpeg))
    }
  })

  it('is ignored if it belongs to grey, RGB or CMYK and the image does not', async () => {
    const { p3 } = PROFILES
    const cmyk = await namedProfile('cmyk')
    for (const [jpeg, profile] of [
      [jpegs.RGB, cmyk],
      [jpegs.grey, cmyk],
      [jpegs.grey, p3],
      [jpegs.CMYK, p3],
    ])
      expect(await colourOf(withProfile(jpeg, profile))).toEqual(await colourOf(jpeg))
    expectNear(await colourOf(withProfile(jpegs.RGB, p3)), [218, 0, 27], 1)
  })

  it.each(['Lab ', 'GRAY'])('is ignored in a HEIC: %s', async (space) => {
    const file = heicImage('p3-profile')
    const labelled = await decodeImage(file)
    const header = file.indexOf('RGB XYZ ', 0, 'latin1')
    file.write(space, header, 'latin1')
    const ignored = await decodeImage(file)
    file.write('RGB ', header, 'latin1')
    expect(ignored.data).not.toEqual(labelled.data)
    expect((await decodeImage(file)).data).toEqual(labelled.data)
  })
})
