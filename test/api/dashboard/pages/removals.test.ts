import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { createOperatorAudit } from '../../../../api/dashboard/operator-audit.store.ts'
import { hashImage } from '../../../../api/shared/image/image-hash.ts'
import { createImages } from '../../../../api/shared/image/person-photos.store.ts'
import { hashRequest } from '../../../../api/trust/removals/hash-request.ts'
import { createRemovals } from '../../../../api/trust/removals/removals.store.ts'
import { startDashboard } from '../../../support/dashboard.ts'
import { fillDashboard } from '../../../support/dashboard-contents.ts'

const photo = readFileSync(new URL('../../../fixtures/persons/apose-full.jpg', import.meta.url))

describe('removal requests in the dashboard', async () => {
  const dashboard = await startDashboard()
  const browser = await dashboard.signIn()
  const contents = await fillDashboard(dashboard, 'Removals')
  const objectKey = `persons/${contents.accountId}/img_1.jpg`
  await createImages(dashboard.database).insert({
    id: 'img_1',
    accountId: contents.accountId,
    objectKey,
    bytes: photo.length,
    externalUserId: 'u',
    width: 400,
    height: 600,
    cropMode: 'none',
    expiresAt: new Date(Date.now() + 86_400_000),
    hash: (await hashImage(photo))?.hash ?? null,
  })
  await dashboard.storage.put(objectKey, photo, { contentType: 'image/jpeg' })
  const hashes = await hashRequest(photo, {})
  for (const [i, id] of ['rem_1', 'rem_2'].entries()) {
    const reference = String(i).repeat(64)
    await createRemovals(dashboard.database).insert({
      id,
      reference,
      email: 'a?bcc=c@b.example',
      reason: '<b>me</b>',
      hashes,
    })
  }
  afterAll(() => dashboard.stop())

  it('shows images only for a reason that is audited', async () => {
    expect((await browser.get('/removals')).text).toContain('/removals/rem_1')
    const { text } = await browser.get('/removals/rem_1')
    expect(text).toContain('img_1')
    expect(text).not.toContain('data:image/jpeg')
    expect(text).not.toContain('<b>me</b>')
    // A link with the address as it is would add a recipient.
    expect(text).toContain('href="mailto:a%3Fbcc%3Dc@b.example"')
    expect((await browser.submit('/removals/rem_1', '/removals/rem_1/images', { reason: '' })).status).toBe(400)
    await dashboard.storage.put(objectKey, Buffer.from('not an image'), { contentType: 'image/jpeg' })
    const unread = await browser.submit('/removals/rem_1', '/removals/rem_1/images', { reason: 'is it the same?' })
    expect(unread.text).not.toContain('Already done')
    await dashboard.storage.put(objectKey, photo, { contentType: 'image/jpeg' })
    const shown = await browser.submit('/removals/rem_1', '/removals/rem_1/images', { reason: 'is it the same?' })
    expect(shown.text).toContain('data:image/jpeg')
    expect(
      await createOperatorAudit(dashboard.database).listing.list({ text: 'removal.view' }, { limit: 9 }),
    ).toHaveLength(1)
  })

  it('erases only selected images that the page offers, once', async () => {
    const [page, action] = ['/removals/rem_1', '/removals/rem_1/erase']
    expect((await browser.submit(page, action, { reason: 'the same person' })).status).toBe(400)
    expect((await browser.submit(page, action, { reason: 'the same person', image: 'img_other' })).status).toBe(400)
    expect((await browser.submit(page, action, { reason: 'the same person', image: 'img_1' })).status).toBe(303)
    expect(await createRemovals(dashboard.database).find('rem_1')).toMatchObject({ state: 'ERASING', hashes: [] })
    expect((await browser.get(page)).text).not.toContain(action)
  })

  it('declines with an answer', async () => {
    await browser.submit('/removals/rem_2', '/removals/rem_2/decline', { answer: 'It shows someone else.' })
    expect(await createRemovals(dashboard.database).find('rem_2')).toMatchObject({
      state: 'DECLINED',
      answer: 'It shows someone else.',
      hashes: [],
    })
  })
})
