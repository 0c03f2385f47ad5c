import { CheckFailure } from '../failure.ts'
import { type Options, required } from '../options.ts'
import { expectStatus } from './ask.ts'

/** Each process exports its metrics and is ready. */
export async function checkMetrics(options: Options): Promise<Record<string, unknown>> {
  const series: Record<string, number> = {}
  for (const url of required(options['probe-urls'], 'probe-urls').split(',')) {
    const text = await (await expectStatus(200, `${url}/metrics`)).text()
    for (const name of ['drape_build_info', 'drape_ready']) {
      if (!new RegExp(`^${name}[ {]`, 'm').test(text)) throw new CheckFailure(`${url}/metrics has no ${name}`)
    }
    series[url] = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
  }
  return { series }
}
