import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { TEST_WARNINGS } from '../../../../api/generations/test-inputs.ts'
import {
  describeErrorTable,
  describeFailuresOnly,
  describeWarningTable,
} from '../../../../api/http/openapi/error-tables.ts'
import { WARNING_CATALOGUE } from '../../../../api/http/openapi/warning-catalogue.ts'
import { translateTryOn } from '../../../../api/products/legacy.routes.ts'

describe('docs/errors.md', () => {
  const page = readFileSync(new URL('../../../../docs/errors.md', import.meta.url), 'utf8')

  it('has the tables and the list of failures that scripts/documents/errors.ts generates', () => {
    expect(page).toContain(`\n${describeErrorTable()}\n`)
    expect(page).toContain(`\n${describeWarningTable()}\n`)
    expect(describeFailuresOnly()).toContain('`PRODUCT_IMAGE_FETCH_FAILED`')
    expect(page).toContain(`requests: ${describeFailuresOnly()}. With`)
  })

  it('has every warning of photos, results and requests', () => {
    const images = [{ classifications: { type: '?', view: '?', category: '?' } }]
    const { warnings } = translateTryOn({
      product: {},
      products: [{ images }],
      customer: {},
      person: { externalUserId: 'a' },
      customerId: 'a',
      externalUserId: 'a',
      useWatermark: true,
      retentionDays: 1,
      output: { watermark: true, keepForDays: 1 },
    })
    expect(warnings).toHaveLength(9)
    expect(Object.keys(WARNING_CATALOGUE).toSorted()).toEqual([...TEST_WARNINGS, ...warnings].toSorted())
  })
})
