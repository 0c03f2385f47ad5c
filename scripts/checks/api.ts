import { CheckFailure } from '../check-options.ts'
import { type Options, required } from '../command-options.ts'
import { expectStatus } from './ask.ts'

/** The API tells what it is, refuses a key that nobody has, which takes the database, and says itself that it is ready. */
export async function checkApi(options: Options): Promise<Record<string, unknown>> {
  const url = required(options.url, 'url')
  const document = (await (await expectStatus(200, `${url}/tryon/v1/openapi.json`)).json()) as {
    info?: { version?: string }
    paths?: object
  }
  const paths = Object.keys(document.paths ?? {}).length
  if (paths === 0) throw new CheckFailure(`${url} tells of no path`)
  await expectStatus(401, `${url}/tryon/v1/account`, { headers: { 'x-api-key': 'sk_nobody' } })
  for (const probeUrl of required(options['probe-urls'], 'probe-urls').split(',')) {
    await expectStatus(200, `${probeUrl}/readyz`)
  }
  return { version: document.info?.version ?? null, paths }
}
