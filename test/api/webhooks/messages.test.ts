import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { WEBHOOK_MESSAGES } from '../../../api/webhooks/messages.schema.ts'

describe('the table of events in docs/webhooks.md', () => {
  it('has a row for each event with all its required fields', () => {
    const page = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8')
    const rows = new Map(
      [...page.matchAll(/^\| `([a-z]+\.[a-z]+)` \| (.+) \|$/gm)].map(([, type, fields]) => [type, fields]),
    )
    const order = 'docs/webhooks.md: one row for each event, in the order of WEBHOOK_MESSAGES'
    expect([...rows.keys()], order).toEqual(Object.keys(WEBHOOK_MESSAGES))
    for (const [type, { schema }] of Object.entries(WEBHOOK_MESSAGES)) {
      const { properties } = schema as unknown as { properties: { data: { required: string[] } } }
      const inherited = type === 'generation.failed' ? rows.get('generation.completed') : ''
      const text = `${rows.get(type)} ${inherited}`
      const missing = properties.data.required.filter(
        (field) => field !== 'accountId' && !text.includes(`\`${field}\``),
      )
      expect(missing, `fields that the row of ${type} lacks`).toEqual([])
    }
  })
})
