import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createOperatorAudit } from '../../../api/dashboard/operator-audit.store.ts'
import { createOperators } from '../../../api/dashboard/sign-in/operators.store.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { readFormFields, startDashboard } from '../../support/dashboard.ts'
import { fillDashboard, fillQueues } from '../../support/dashboard-contents.ts'

/** The name of the account, which a spreadsheet must not run. */
const FORMULA = '=HYPERLINK("https://evil.example")'

describe('every list of the dashboard', async () => {
  /** Pages with a file, from the routes. */
  const dashboard = await startDashboard()
  const browser = await dashboard.signIn()
  const contents = await fillDashboard(dashboard, FORMULA)
  await fillQueues(dashboard.database, contents)
  const act = { action: 'account.update', object: contents.accountId, accountId: contents.accountId }
  await dashboard.database.query(sql.unsafe`select open_erasure(${contents.accountId}, 'anna')`)
  await createOperatorAudit(dashboard.database).insert({ operator: null, address: null, form: null }, act)
  const places = [
    [/^\/(webhooks)\/:id/, contents.endpointId],
    [/^\/(accounts)\/:id/, contents.accountId],
    [/^\/(shops)\/:id/, contents.shopId],
  ] as const
  const lists = dashboard.routes
    .filter((route) => route.endsWith('.csv') && !route.includes('analytics'))
    .map((route) => {
      const file = places.reduce((path, [start, id]) => path.replace(start, `/$1/${id}`), route.slice(4))
      return { file, page: file.replace(/(\/deliveries)?\.csv$/, '') }
    })
  afterAll(() => dashboard.stop())

  const rowsIn = (text: string) =>
    [
      ...(text
        .split('<tbody>')[1]
        ?.split('</tbody>')[0]
        .matchAll(/<tr>(.*?)<\/tr>/gs) ?? []),
    ].map(([, row]) => row)
  const totalIn = (text: string) => Number(text.match(/<span>[\d,]+–[\d,]+ of ([\d,]+)<\/span>/)?.[1].replace(',', ''))
  const linesOf = (csv: string) => csv.trimEnd().split('\r\n')
  const open = async (path: string) => {
    const answer = await browser.get(path.replaceAll('&#38;', '&'))
    expect(answer.status, path).toBe(200)
    return answer.text
  }

  it('is one of these', () => {
    expect(lists.map(({ page }) => page.replace(/\/\w+_[\w-]+/, '/:id')).toSorted()).toEqual([
      ...[
        '/accounts',
        '/accounts/:id/ledger',
        '/accounts/:id/requests',
        '/audit',
        '/blocks',
        '/erasures',
        '/generations',
      ],
      ...['/leads', '/operators', '/products', '/removals', '/reviews', '/shops', '/webhooks', '/webhooks/:id'],
    ])
  })

  it('counts its rows, and has the same in its file, without formulas', async () => {
    for (const { page, file } of lists) {
      const text = await open(page)
      const lines = linesOf(await open(file))
      expect(lines[0], file).toMatch(/^[a-z_,]+$/)
      expect([totalIn(text), rowsIn(text).length], page).toEqual([lines.length - 1, Math.min(50, lines.length - 1)])
      expect(lines.slice(1).join('\n'), file).not.toMatch(/(^|,|\n)"?[=+@]/)
    }
  })

  it('is sorted by each of its columns, in both directions', async () => {
    let sorted = 0
    for (const { page } of lists) {
      const text = await open(page)
      for (const [, link] of text.matchAll(/<th [^>]*><a href="(\?[^"]+)">/g)) {
        const again = await open(`${page}${link}`)
        expect(again, `${page}${link}`).toMatch(/ aria-sort="(asc|desc)ending"/)
        expect(totalIn(again)).toBe(totalIn(text))
        sorted++
      }
    }
    expect(sorted).toBeGreaterThan(70)
    const [, back = ''] = (await open('/accounts?sort=name')).match(/ aria-sort="ascending"><a href="(\?[^"]+)">/) ?? []
    expect(back).toBe('?sort=-name')
    const seconds = async (sort: string) =>
      [...(await open(`/generations?sort=${sort}`)).matchAll(/data-label="Seconds">([\d.]*)</g)].map(([, text]) => text)
    expect((await seconds('-seconds'))[0]).toBe('27.0')
    expect(await seconds('seconds')).not.toContain('')
  })

  it('finds nothing before its first and after its last row, and says so', async () => {
    for (const { page, file } of lists.filter(({ page }) => page !== '/leads')) {
      const [past, future] = ['2001-01-01T00:00', '2999-01-01T00:00']
      for (const query of [`from=${future}`, `to=${past}`, 'page=7', 'q=no-such-text'])
        expect(await open(`${page}?${query}`), `${page}?${query}`).toContain('Nothing matches. <a href=')
      expect(linesOf(await open(`${file}?to=${past}`))).toHaveLength(1)
      expect(totalIn(await open(`${page}?from=${past}&to=${future}`)), page).toBe(totalIn(await open(page)))
    }
  })

  it('refuses what it cannot be asked, and no search reaches a column that it does not show', async () => {
    for (const { page, file } of lists)
      for (const query of ['sort=secrets', 'sort=email;', 'page=0', 'from=x', 'page=1e3']) {
        const { status, text } = await browser.get(`${page}?${query}`)
        expect(status === 400 || (query === 'from=x' && page === '/leads'), `${page}?${query}`).toBe(true)
        expect(text).not.toContain('Something went wrong')
        expect((await browser.get(`${file}?${query}`)).status).toBe(status)
      }
    // Viewers may not read requests for removal.
    expect(await open('/removals?q=ada@example.com')).toContain('Nothing matches.')
  })

  it('is filtered by each value that it offers', async () => {
    let filtered = 0
    for (const { page } of lists)
      for (const [select, name] of (await open(page)).matchAll(/<select id="[^"]*" name="(\w+)">.*?<\/select>/gs))
        for (const [, value] of select.matchAll(/<option value="([^"]+)"/g)) {
          await open(`${page}?${new URLSearchParams({ [name]: value })}`)
          filtered++
        }
    expect(filtered).toBeGreaterThan(25)
    expect(totalIn(await open('/accounts?isActive=true'))).toBe(totalIn(await open('/accounts')))
    expect(await open('/accounts?isActive=false')).toContain('Nothing matches.')
  })

  it('offers no action where no row can be chosen', async () => {
    const actionsIn = async (status: string) =>
      [...(await browser.get(`/generations?status=${status}`)).text.matchAll(/ action="(\/generations\/[^"]+)"/g)]
        .length
    expect([await actionsIn('PENDING'), await actionsIn('COMPLETED')]).toEqual([1, 0])
  })

  it('acts on chosen rows, once, with an entry of the audit log for each', async () => {
    const accounts = createAccounts(dashboard.database)
    const ids = (await dashboard.database.anyFirst(sql.unsafe`
      select id from generations where account_id = ${contents.accountId} and status <> 'COMPLETED' order by id desc limit 5`)) as string[]
    const pending = (await dashboard.database.anyFirst(sql.unsafe`
      select id from generations where account_id = ${contents.accountId} and status = 'PENDING'`)) as string[]
    const view = `status=PENDING&sort=-createdAt`
    const page = await open(`/generations?${view}`)
    expect(page.match(/<input type="checkbox" name="id"/g)).toHaveLength(pending.length)
    const { form } = readFormFields(page, '/generations/cancel')
    const body = (chosen: readonly string[], typed: Record<string, string>) => {
      const fields = new URLSearchParams({ form, view, ...typed })
      for (const id of chosen) fields.append('id', id)
      return fields
    }
    const send = (chosen: readonly string[], typed: Record<string, string>) =>
      browser.post('/generations/cancel', body(chosen, typed))
    const reason = 'The shop has closed.'
    const none = await send([], { reason })
    expect([none.status, none.text.includes('Choose at least one row.')]).toEqual([400, true])
    const kept = await send(pending, { reason: '' })
    expect(kept.status).toBe(400)
    expect(kept.text.match(/<input type="checkbox" name="id"[^>]* checked/g)).toHaveLength(pending.length)
    const { balance } = (await accounts.find(contents.accountId)) ?? { balance: 0 }
    // Those that have ended, or do not exist, are passed over.
    const answers = await Promise.all([1, 2].map(() => send([...ids, 'gen_unknown'], { reason })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 409])
    const [done] = answers.filter(({ status }) => status === 303)
    expect(done.headers.get('location')).toBe(`/generations?${view}&done=generation.cancel`)
    expect((await accounts.find(contents.accountId))?.balance).toBe(balance + pending.length)
    const audited = await createOperatorAudit(dashboard.database).listing.list(
      { text: 'generation.cancel' },
      { limit: 50 },
    )
    expect(audited.map(({ object }) => object).toSorted()).toEqual(pending.toSorted())
    expect(audited.every((entry) => entry.reason === reason && entry.accountId === contents.accountId)).toBe(true)
  })

  it('retries the chosen deliveries of its own endpoint only', async () => {
    const page = `/webhooks/${contents.endpointId}`
    const { accountId } = contents
    const foreign = await dashboard.database.oneFirst(sql.unsafe`
      with other as (
        insert into webhook_endpoints (id, account_id, url, event_types, secrets) values ('endpoint_x', ${accountId}, 'https://x.example', '[]', '[]') returning id)
      insert into webhook_deliveries (endpoint_id, event_id, type, data, happened_at, status)
      select id, 'evt_x', 'webhook.test', '{}', now(), 'failed' from other returning id::text`)
    const [own] = (await dashboard.database.anyFirst(sql.unsafe`
      select id::text from webhook_deliveries where endpoint_id = ${contents.endpointId} and status = 'failed'`)) as string[]
    const retry = (id: string) => browser.submit(page, `${page}/deliveries/retry`, { id })
    expect((await retry(String(foreign))).status).toBe(400)
    expect((await retry('x')).status).toBe(400)
    expect((await retry(own)).status).toBe(303)
    const states = await dashboard.database.any(sql.unsafe`
      select id::text, status from webhook_deliveries where id in (${own}::bigint, ${String(foreign)}::bigint) order by id`)
    expect(states).toEqual([
      { id: own, status: 'waiting' },
      { id: foreign, status: 'failed' },
    ])
  })

  it('has no boxes to tick for operators who may not act', async () => {
    const email = 'victor@example.com'
    await createOperators(dashboard.database).insert({ email, name: null, passwordHash: '', role: 'viewer' })
    const viewer = await dashboard.signIn(email)
    for (const { page } of lists.filter(({ page }) => page !== '/operators')) {
      const { status, text } = await viewer.get(page)
      expect([status, text.includes('type="checkbox" name="id"')], page).toEqual([200, false])
    }
  })
})
