import { expect, it } from 'vitest'
import { ROUTES } from '../../../../api/http/core-routes.ts'
import { createDocument } from '../../../../api/http/openapi/document.ts'
import { createMetrics } from '../../../../api/shared/telemetry/metrics.ts'

/** Maximum number of series per process. */
const MAX_SERIES = 2000
/** Responses that the document does not list for each route. */
const ALWAYS = [404, 405, 500, 503]

it('has fewer than 2,000 series when every route has returned every possible response', async () => {
  const metrics = createMetrics('api')
  const { paths } = createDocument(ROUTES, {
    publicUrl: 'http://drape.test',
    serviceName: 'Test',
  }) as unknown as Document
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { responses }] of Object.entries(methods)) {
      for (const status of [...Object.keys(responses).map(Number), ...ALWAYS]) {
        metrics.observerOf({ route: path, method: method.toUpperCase(), status })(0.1)
      }
    }
  }
  const series = (await metrics.scrape()).text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  expect(Object.keys(paths).length).toBeGreaterThan(20)
  expect(series.length).toBeGreaterThan(500)
  // Other parts of the process add at most a quarter.
  expect(series.length).toBeLessThan((MAX_SERIES * 3) / 4)
})

interface Document {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, unknown> }>>
}
