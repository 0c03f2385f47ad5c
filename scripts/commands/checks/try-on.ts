import { createDrapeClient, readPicture } from '../../../api/client/node.ts'
import { CheckFailure } from '../failure.ts'
import { type Options, required } from '../options.ts'
import { explained } from '../service.ts'
import { expectStatus } from './ask.ts'
import { withCheckAccount } from './check-account.ts'
import { publicUrl } from './environment.ts'

/** A sample pair that the warp engine supports. */
const PERSON = new URL('../../../worker/inference/self-test/person.jpg', import.meta.url)
const GARMENT = new URL('../../../worker/inference/self-test/garment.jpg', import.meta.url)
const CUSTOMER = 'installation-check'

/** A job passes through database, queue and worker and back. Costs no credit. */
export function checkQueue(options: Options): Promise<Record<string, unknown>> {
  return checkEngine('mock', options)
}

/** A try-on completes, and its result can be downloaded. Costs a credit of the check account. */
export function checkTryOn(options: Options): Promise<Record<string, unknown>> {
  return checkEngine('warp', options)
}

async function checkEngine(engine: 'mock' | 'warp', options: Options): Promise<Record<string, unknown>> {
  const url = required(options.url, 'url')
  return withCheckAccount(async (apiKey) => {
    const drape = createDrapeClient({ url, apiKey, retries: 0 })
    const startedAt = performance.now()
    try {
      const [person, garment] = await Promise.all([PERSON, GARMENT].map(readPicture))
      const product = { title: 'T-shirt', images: [garment] }
      const output = { engine, deadlineSeconds: 120 }
      const { generationId, resultImageUrl } = await explained(
        drape.tryOn({ person, product, externalUserId: CUSTOMER, output }).wait(),
      )
      const seconds = Math.round(performance.now() - startedAt) / 1000
      return { generationId, engine, seconds, resultBytes: await fetchResult(resultImageUrl, url) }
    } finally {
      await drape.customers.erase(CUSTOMER)
    }
  })
}

/** Result links use the public URL, which pods of the cluster may be unable to reach. */
async function fetchResult(resultImageUrl: string | undefined, url: string): Promise<number> {
  if (!resultImageUrl) throw new CheckFailure('The result has no image')
  const base = publicUrl().replace(/\/$/, '')
  const link = resultImageUrl.startsWith(base) ? url + resultImageUrl.slice(base.length) : resultImageUrl
  const bytes = Buffer.from(await (await expectStatus(200, link)).arrayBuffer())
  if (!bytes.subarray(0, 3).equals(JPEG)) throw new CheckFailure('The result is not a JPEG')
  return bytes.length
}

const JPEG = Buffer.from([0xff, 0xd8, 0xff])
