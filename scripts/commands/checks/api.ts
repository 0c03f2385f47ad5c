import { CheckFailure } from '../failure.ts'
import { type Options, required } from '../options.ts'
import { expectStatus } from './ask.ts'

/** The API serves its OpenAPI document, rejects an unknown key, which requires the database, and is ready. */
export async function checkApi(options: Options): Promise<Record<string, unknown>> {
  const url = required(options.url, 'url')
  const document = (await (await expectStatus(200, `${url}/tryon/v1/openapi.json`)).json()) as {
    info?: { version?: string }
    paths?: object
  }
  const paths = Object.keys(document.paths ?? {}).length
  if (paths === 0) throw new CheckFailure(`${url} has no paths in its OpenAPI document`)
  await expectStatus(401, `${url}/tryon/v1/account`, { headers: { 'x-api-key': 'sk_nobody' } })
  for (const probeUrl of required(options['probe-urls'], 'probe-urls').split(',')) {
    await expectStatus(200, `${probeUrl}/readyz`)
  }
  return { version: document.info?.version ?? null, paths }
}
