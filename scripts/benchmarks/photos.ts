import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { normaliseImage } from '../../api/shared/image/image.ts'
import { tiledHeic } from '../../test/support/endless-heic.ts'
import { heicImage } from '../../test/support/heic-images.ts'
import { openModels } from '../../worker/inference/models.ts'
import { preparePhoto } from '../../worker/job/prepare-photo.ts'
import type { Benchmark } from './benchmark.ts'
import { timeRuns } from './model-runs.ts'
import { alternate } from './rounds.ts'
import { largePhoto } from './sample-photos.ts'
import { bySize } from './size.ts'

const MODELS = fileURLToPath(new URL('../../worker/models', import.meta.url))

export const photoTime: Benchmark = {
  id: 'P9',
  what: 'a JPEG of 12 megapixels normalised and cropped around its person, against the sum of the bare parts',
  unit: 'ms',
  better: 'lower',
  goal: 1.5,
  measure: async () => {
    const { models, spent } = timeRuns(await openModels(MODELS))
    const photo = await largePhoto()
    let runs = Number.POSITIVE_INFINITY
    try {
      const { ours, anchor } = await alternate({
        ours: () =>
          timed(async () => {
            spent.ms = 0
            const { bytes } = await normaliseImage(photo)
            await preparePhoto({ photo: bytes }, { models })
            runs = Math.min(runs, spent.ms)
          }),
        anchor: () => timed(() => bareParts(photo)),
        better: 'lower',
      })
      return { ours, anchor: anchor + runs }
    } finally {
      await models.release()
    }
  },
}

/** Decodes, downscales and encodes the upload; decodes the result, and encodes a view: one call each. */
async function bareParts(photo: Buffer): Promise<void> {
  const normalised = await sharp(photo)
    .resize(3000, 3000, { fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: 95, chromaSubsampling: '4:4:4', optimiseCoding: false })
    .toBuffer()
  const { data, info } = await sharp(normalised).raw().toBuffer({ resolveWithObject: true })
  await sharp(data, { raw: { width: info.width, height: info.height, channels: 3 } })
    .resize(1024, 1024, { fit: 'inside' })
    .jpeg({ quality: 92, chromaSubsampling: '4:4:4' })
    .toBuffer()
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** Nearly 16 megapixels in tiles of the size that phones write. */
const TILES = bySize({
  smallest: { width: 512, height: 512, columns: 2, rows: 1 },
  usual: { width: 512, height: 512, columns: 10, rows: 6 },
})

export const heicTime: Benchmark = {
  id: 'P10',
  what: 'a HEIC of 16 megapixels normalised, against a bare decode by libheif-js',
  unit: 'ms',
  better: 'lower',
  goal: 1.35,
  measure: async () => {
    const file = tiledHeic(heicImage('textured'), TILES)
    return alternate({
      ours: () => timed(() => normaliseImage(file)),
      anchor: () => timed(() => decodeBare(file)),
      better: 'lower',
    })
  },
}

const libheif = createRequire(import.meta.url)('libheif-js/wasm-bundle.js')

async function decodeBare(file: Buffer): Promise<void> {
  const [image] = new libheif.HeifDecoder().decode(file)
  const [width, height] = [image.get_width(), image.get_height()]
  const data = new Uint8ClampedArray(width * height * 4)
  await new Promise((resolve) => image.display({ width, height, data }, resolve))
  image.free()
}
