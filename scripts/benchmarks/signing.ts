import { readFile } from 'node:fs/promises'
import { decodeImage, encodeImage, resizeBitmap } from '../../api/shared/image/image.ts'
import { createSignResult } from '../../worker/outputs/provenance/provenance.ts'
import { readSigningKey } from '../../worker/outputs/provenance/signing-key.ts'
import type { Benchmark } from './benchmark.ts'
import { percentile } from './percentile.ts'

const SAMPLE = new URL('../samples/persons/down-half-teal.jpg', import.meta.url)
const LONGEST = 1280
const ROUNDS = 300
const WARM_UP = 50

/** How long it takes to sign a result with Content Credentials. */
export const signTimes: readonly Benchmark[] = (
  [
    ['P22', 0.5, 'median'],
    ['P22b', 0.95, '95 of 100'],
  ] as const
).map(([id, share, words]) => ({
  id,
  what: `signing a JPEG of ${LONGEST} px with Content Credentials (${words})`,
  unit: 'ms',
  better: 'lower',
  goal: 15,
  stretch: 5,
  measure: async () => {
    const photo = await decodeImage(await readFile(SAMPLE))
    const image = await encodeImage(await resizeBitmap(photo, { longest: LONGEST }), { format: 'jpeg' })
    const signResult = await createSignResult(await readSigningKey({ key: '', certificates: '' }))
    const made = {
      image,
      engine: { name: 'warp', version: '1', kind: 'preview' as const },
      weights: 'ab'.repeat(32),
      person: image,
      product: image,
    }
    const times: number[] = []
    for (let round = 0; round < WARM_UP + ROUNDS; round++) {
      const start = performance.now()
      await signResult(made)
      if (round >= WARM_UP) times.push(performance.now() - start)
    }
    return { ours: percentile(times, share), anchor: 1 }
  },
}))
