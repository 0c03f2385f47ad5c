import { afterAll, describe, expect, it } from 'vitest'
import { createOperatorAudit } from '../../../../api/dashboard/operator-audit.store.ts'
import { csvLine } from '../../../../api/http/answers/csv.ts'
import { sql } from '../../../../api/shared/database/database.ts'
import { createLeadOutbox } from '../../../../api/storefront/leads/lead-outbox.store.ts'
import { startDashboard } from '../../../support/dashboard.ts'
import { fillDashboard } from '../../../support/dashboard-contents.ts'

describe('the leads of shops', async () => {
  const dashboard = await startDashboard()
  const browser = await dashboard.signIn()
  const contents = await fillDashboard(dashboard, 'Leads')
  const page = `/leads/${contents.shopId}`
  for (const email of ['anna@example.com', '=cmd@example.com', 'waits@example.com']) {
    const lead = { shopId: contents.shopId, externalUserId: 'x', email, marketingConsent: true }
    await createLeadOutbox(dashboard.database).insert(lead)
  }
  await dashboard.database.query(sql.unsafe`
    update lead_outbox set dead_at = now(), reason = 'The platform of the shop answered 401.'
    where email = 'anna@example.com'`)
  afterAll(() => dashboard.stop())

  const audited = (action: string) =>
    createOperatorAudit(dashboard.database).listing.list({ text: action }, { limit: 10 })

  it('are counted by shop, without an address on the page', async () => {
    const { text } = await browser.get('/leads')
    expect(text).toContain(page)
    expect(text).toContain('answered 401')
    expect(text + (await browser.get(page)).text).not.toContain('anna@example.com')
  })

  it('are exported for a reason, which the audit log contains, and without formulas', async () => {
    expect((await browser.submit(page, `${page}/export`, { reason: '' })).status).toBe(400)
    expect(await audited('leads.export')).toHaveLength(0)
    const { text, headers } = await browser.submit(page, `${page}/export`, { reason: 'the shop asked for them' })
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="leads-.*\.csv"/)
    const [head, ...lines] = text.trimEnd().split('\r\n')
    expect(head).toBe('email,marketing_consent,state,left_at,reason')
    expect(lines.map((line) => line.split(',').slice(0, 3).join()).toSorted()).toEqual([
      "'=cmd@example.com,true,waiting",
      'anna@example.com,true,refused',
      'waits@example.com,true,waiting',
    ])
    expect(await audited('leads.export')).toMatchObject([
      { object: contents.shopId, reason: 'the shop asked for them' },
    ])
  })

  it('are delivered again when an operator retries', async () => {
    await browser.submit(page, `${page}/retry`)
    const dead = await dashboard.database.oneFirst(sql.unsafe`select count(dead_at)::int from lead_outbox`)
    expect(dead).toBe(0)
  })

  it('are deleted by address, which the audit log does not contain', async () => {
    const send = (email: string) => browser.submit(page, `${page}/delete`, { email, reason: 'asked by mail' })
    expect((await send('nobody@example.com')).status).toBe(400)
    expect((await send('ANNA@example.com')).status).toBeLessThan(400)
    expect(await dashboard.database.any(sql.unsafe`select from lead_outbox where email like 'anna%'`)).toHaveLength(0)
    const entries = await audited('leads.delete')
    expect(entries).toHaveLength(1)
    expect(JSON.stringify(entries)).not.toContain('anna')
  })
})

describe('a line of CSV', () => {
  it.each([
    [['a', 'b'], 'a,b\r\n'],
    [['=1+1', '+1', '-1', '@a', '\ta'], "'=1+1,'+1,'-1,'@a,'\ta\r\n"],
    [['a "b", c', 'd\ne'], '"a ""b"", c","d\ne"\r\n'],
    [['=HYPERLINK("x")'], `"'=HYPERLINK(""x"")"\r\n`],
  ])('of %j is %j', (cells, expected) => {
    expect(csvLine(cells)).toBe(expected)
  })
})
