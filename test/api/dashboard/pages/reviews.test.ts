import { afterAll, describe, expect, it } from 'vitest'
import { createOperatorAudit } from '../../../../api/dashboard/operator-audit.store.ts'
import { createSafetyBlocks } from '../../../../api/trust/appeals/safety-blocks.store.ts'
import { createSafetyReviews } from '../../../../api/trust/appeals/safety-reviews.store.ts'
import { createCaller } from '../../../support/accepted.ts'
import { startDashboard } from '../../../support/dashboard.ts'
import { refuseGeneration } from '../../../support/refused.ts'

describe('reviews in the dashboard', async () => {
  const dashboard = await startDashboard()
  const browser = await dashboard.signIn()
  const caller = await createCaller(dashboard.database, 10)
  afterAll(() => dashboard.stop())

  const reviews = () => createSafetyReviews(dashboard.database)
  const appealed = async () => {
    const id = await refuseGeneration(dashboard.database, caller)
    await reviews().appeal(id, '<b>A shirt</b>')
    return { id, page: `/reviews/${id}`, action: `/reviews/${id}/decide` }
  }

  it('list open appeals with their reason, without an image', async () => {
    const { page } = await appealed()
    expect((await browser.get('/reviews')).text).toContain(page)
    const { text } = await browser.get(page)
    expect(text).toContain('photo: nudity')
    expect(text).toContain('&#60;b&#62;A shirt')
    expect(text).not.toMatch(/<img|<b>A shirt/)
    expect((await browser.get('/reviews/gen_unknown')).status).toBe(404)
  })

  it('name the shopper who wrote the reason, because the shopper reads the answer', async () => {
    const id = await refuseGeneration(dashboard.database, caller)
    await reviews().appeal(id, 'I wear a shirt.', { byShopper: true })
    const { text } = await browser.get(`/reviews/${id}`)
    expect(text).toContain('Reason of the shopper')
    expect(text).toContain('The shopper and the account read it.')
    expect((await browser.get('/reviews')).text).toMatch(/<td[^>]*>shopper<\/td>/)
  })

  it('decide once, with an answer that the audit log does not contain', async () => {
    const { id, page, action } = await appealed()
    for (const wrong of [
      { decision: 'OPEN', answer: 'Why not?' },
      { decision: 'ALLOWED', answer: '' },
    ])
      expect((await browser.submit(page, action, wrong)).status).toBe(400)
    expect((await browser.submit(page, action, { decision: 'ALLOWED', answer: 'A secret word.' })).status).toBe(303)
    expect(await reviews().find(id)).toMatchObject({ state: 'ALLOWED', answer: 'A secret word.' })
    const entries = await createOperatorAudit(dashboard.database).listing.list({ text: id }, { limit: 9 })
    expect(entries).toMatchObject([
      { action: 'review.decide', object: id, accountId: caller.accountId, details: { decision: 'ALLOWED' } },
    ])
    expect(JSON.stringify(entries)).not.toContain('secret word')
    expect((await browser.get(page)).text).not.toContain(action)
  })

  it('block an image until a date, list the block, and remove it for a reason that the audit log contains', async () => {
    const { page, action } = await appealed()
    await browser.submit(page, action, { decision: 'BLOCKED', answer: 'No.', blockDays: '30' })
    const blocks = createSafetyBlocks(dashboard.database)
    const [block] = await blocks.listing.list({}, { limit: 10 })
    expect(Number(block.expiresAt) - Date.now()).toBeGreaterThan(29 * 86_400_000)
    const list = (await browser.get('/blocks')).text
    expect(list).toContain(block.id)
    expect(list).toContain('aaaaaaaa')
    const remove = (values: Record<string, string>) => browser.submit('/blocks', '/blocks/remove', values)
    expect((await remove({ id: 'blk_unknown', reason: 'A mistake.' })).status).toBe(400)
    expect((await remove({ id: block.id, reason: '' })).status).toBe(400)
    expect(await blocks.listing.list({}, { limit: 10 })).toHaveLength(1)
    expect((await remove({ id: block.id, reason: 'A mistake.' })).status).toBe(303)
    expect(await blocks.listing.list({}, { limit: 10 })).toEqual([])
    const entries = await createOperatorAudit(dashboard.database).listing.list({ text: block.id }, { limit: 9 })
    expect(entries).toMatchObject([{ action: 'block.remove', object: block.id, reason: 'A mistake.' }])
  })

  it('decide only on the version that the operator saw', async () => {
    const { id, page, action } = await appealed()
    await reviews().appeal(id, 'Another reason')
    const stale = await browser.submit(page, action, { edition: '1', decision: 'BLOCKED', answer: 'No.' })
    expect(stale.status).toBe(400)
    expect(stale.text).toContain('was changed or decided meanwhile')
    expect(await reviews().find(id)).toMatchObject({ state: 'OPEN' })
  })
})
