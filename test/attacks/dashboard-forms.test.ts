import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { createOperatorAudit } from '../../api/dashboard/operator-audit.store.ts'
import { createLogos } from '../../api/photos/logos.store.ts'
import { sql } from '../../api/shared/database/database.ts'
import { readFormFields, startDashboard } from '../support/dashboard.ts'
import { fillDashboard } from '../support/dashboard-contents.ts'
import { readSample } from '../support/drape.ts'

describe('an operator who sends forms that the dashboard did not issue for them', async () => {
  const dashboard = await startDashboard()
  const browser = await dashboard.signIn()
  const contents = await fillDashboard(dashboard, 'Attacked')
  afterAll(() => dashboard.stop())

  const listViews = () => createOperatorAudit(dashboard.database).listing.list({ text: 'picture.view' }, { limit: 50 })
  const imageOf = (id: string) => `/generations/${id}/image`
  const formOf = async (id: string, from = browser) =>
    readFormFields((await from.get(`/generations/${id}`)).text, imageOf(id)).form
  const look = (id: string, form: string) =>
    browser.post(imageOf(id), new URLSearchParams({ form, which: 'result', reason: 'only curious' }))
  const findCompleted = async () => {
    const { rows } = await dashboard.database.query(sql.unsafe`
      select id from generations where status = 'COMPLETED' order by id desc limit 3`)
    return rows.map((row) => (row as { id: string }).id)
  }

  it('sees one image per audit log entry', async () => {
    const [first, second, third] = await findCompleted()
    const form = await formOf(first)
    const other = await dashboard.signIn()
    const answers = [
      ...(await Promise.all([1, 2, 3, 4].map(() => look(first, form)))),
      await look(second, form),
      await look(third, form),
      await look(second, ''),
      await look(second, 'invented'),
      await look(second, `${form.slice(0, 22)}.${'A'.repeat(43)}`),
      await look(second, await formOf(second, other)),
      await browser.post(`${imageOf(second)}/`, new URLSearchParams({ form, which: 'result', reason: 'only curious' })),
    ]
    const shown = answers.filter(({ text }) => text.includes('<img class="image"'))
    expect(shown).toHaveLength(1)
    expect(await listViews()).toMatchObject([{ object: first }])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403, 403, 403, 403, 403, 409, 409, 409])
    // A form of the page that was meant works once more for each time that the page is opened.
    expect((await look(second, await formOf(second))).status).toBe(200)
    expect(await listViews()).toHaveLength(2)
  })

  it('sets one logo per audit log entry', async () => {
    const page = `/accounts/${contents.accountId}`
    const { form } = readFormFields((await browser.get(page)).text, `${page}/logo`)
    const logos = ['garments/tshirt-mustard.jpg', 'garments/tshirt-navy.jpg']
    const statuses: number[] = []
    for (const logo of logos) {
      const body = new FormData()
      body.set('form', form)
      body.set('logo', new Blob([new Uint8Array(await readSample(logo))]))
      statuses.push((await browser.post(`${page}/logo`, body)).status)
    }
    expect(statuses).toEqual([303, 409])
    const [entry, ...more] = await createOperatorAudit(dashboard.database).listing.list(
      { text: 'logo.set' },
      { limit: 9 },
    )
    expect(more).toEqual([])
    const account = await createAccounts(dashboard.database).findEdition(contents.accountId)
    expect(entry.details).toEqual({ key: account?.logoKey })
    await createLogos(dashboard.database).replace({ accountId: contents.accountId, key: null })
  })
})
