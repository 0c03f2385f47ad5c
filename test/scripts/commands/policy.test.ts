import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createConsents } from '../../../api/consents/consents.store.ts'
import { createShops } from '../../../api/shops/shops.store.ts'
import { createCommandLine } from '../../support/command-line.ts'
import { openTestDatabase } from '../../support/postgres.ts'

describe('drape policy', async () => {
  const { database, url } = await openTestDatabase({ poolSize: 2 })

  const accountId = (await createAccounts(database).insert({ name: 'Test', email: null, credits: 0 })).id
  await createShops(database).insert({ accountId, platform: 'plugin', domain: 'shop.example', secret: 'silence' })
  const folder = await mkdtemp(join(tmpdir(), 'drape-policies-'))
  afterAll(async () => {
    if (folder) await rm(folder, { recursive: true })
  })

  const write = async (texts: unknown): Promise<string> => {
    const path = join(folder, 'texts.json')
    await writeFile(path, typeof texts === 'string' ? texts : JSON.stringify(texts))
    return path
  }
  const drape = (...args: string[]) => createCommandLine(url).drape(...args)
  const publish = async (texts: unknown, ...more: string[]) =>
    drape('policy', 'publish', ...more, '--texts', await write(texts))
  const OF_SHOP = ['--shop', 'Shop.example', '--policy-version']

  it('publishes the text of docs/privacy.md with the documented command', async () => {
    const page = await readFile(new URL('../../../docs/privacy.md', import.meta.url), 'utf8')
    const [, texts = ''] = page.match(/^```json\n(\{ "en".*)\n```$/m) ?? []
    const [, command = ''] = page.match(/drape -- (policy publish --shop .*)$/m) ?? []
    const path = await write(texts)
    const args = command.split(' ').map((word) => (word === 'texts.json' ? path : word))
    expect(await drape(...args)).toMatchObject({ code: 0, output: expect.stringContaining('"languages":["en","de"]') })
    const policy = { accountId, policy: 'shop.example' }
    expect(await createConsents(database).findPolicy(policy)).toEqual({ version: '2026-11', texts: JSON.parse(texts) })
  })

  it('publishes immutable versions for a shop and an app', async () => {
    expect((await publish({ en: ' I agree. ', 'de-AT': 'Ja.' }, ...OF_SHOP, '2026-12')).code).toBe(0)
    const published = await createConsents(database).findPolicy({ accountId, policy: 'shop.example' })
    expect(published).toEqual({ version: '2026-12', texts: { en: 'I agree.', 'de-at': 'Ja.' } })
    const again = await publish({ en: 'Other' }, ...OF_SHOP, '2026-12')
    expect(again.code).not.toBe(0)
    expect(again.stderr).toContain('was published before')
    const ofApp = ['--account', accountId, '--policy', 'Our-App', '--policy-version', '1']
    expect((await publish({ en: 'Yes' }, ...ofApp)).code).toBe(0)
    const { output } = await drape('policy', 'list', '--account', accountId)
    expect(JSON.parse(output).policies).toMatchObject([
      { policy: 'our-app' },
      { policy: 'shop.example', version: '2026-12' },
      { policy: 'shop.example', version: '2026-11' },
    ])
  })

  it.each([
    [{}, 'languages'],
    [{ english: 'Yes' }, 'must be named by a language'],
    [{ en: '' }, 'plain text'],
    [{ en: 7 }, 'plain text'],
    [{ en: 'x'.repeat(4001) }, 'plain text'],
    [{ en: 'hidden\u200b text' }, 'plain text'],
    ['not JSON', 'is not JSON'],
    [['en'], 'must be named by a language'],
  ])('rejects %j', async (texts, problem) => {
    const { code, stderr } = await publish(texts, ...OF_SHOP, '2')
    expect(code).not.toBe(0)
    expect(stderr).toContain(problem)
  })
})
