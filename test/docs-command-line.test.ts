import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAccounts } from '../api/accounts/accounts.store.ts'
import { Type } from '../api/shared/contract/schema.ts'
import { rowType, sql } from '../api/shared/database/database.ts'
import { createWebhooks } from '../api/webhooks/webhooks.store.ts'
import { ROOT } from '../scripts/stack/session.ts'
import { blocksOf } from './support/documented-blocks.ts'
import { type Drape, formOf, readSample, startDrape } from './support/drape.ts'
import { requestService } from './support/request-service.ts'

/** Each page with the blocks of `sh` that call `drape`, by number, and what they write. */
const PAGES: readonly (readonly [page: string, blocks: readonly number[], written: RegExp])[] = [
  ['docs/start/shop.md', [0], /shop_[\s\S]*shop_/],
  ['docs/test-mode.md', [0], /sk_test_/],
  ['docs/shops.md', [0, 1], /shop_[\s\S]*www\.my-shop\.example/],
  ['docs/webhooks.md', [0], /whsec_/],
  ['docs/api.md', [0, 1, 2, 3], /\{"success":true\}\{"timeZone":"UTC"[\s\S]*checkout[\s\S]*products +1/],
  ['docs/configuration.md', [0, 1, 3], /apiKey[\s\S]*balanced +true[\s\S]*COMPLETED[\s\S]*result\.jpg[\s\S]*granted/],
  ['docs/dashboard.md', [0], /"password"/],
  ['docs/retention.md', [2], /orphans/],
  ['docs/widget.md', [0, 1], /"secret"[\s\S]*"externalId":"shirt-1"/],
  ['README.md', [1], /"generationId":"gen_[\s\S]*"status":"COMPLETED"/],
  ['charts/drape/docs/backup.md', [5], /balanced +true/],
  ['docs/safety.md', [0], /strict[\s\S]*allowsSwimwear/],
]

/** Lines that start processes which run until they are stopped, and the one whose whole page runs it elsewhere. */
const LEFT_OUT = /^DASHBOARD_PORT=8081 (scripts\/dev|npm run api)/

/** Prefix of the roles that a page calls `drape_`. */
const ROLES = `docs_${randomBytes(6).toString('hex')}`

/** How the pages call the command line: npm finds package.json in the folder of the clone, which this is not. */
const NPM = `npm() {
  [ "$1 $2 $3 $4" = "run --silent drape --" ] || { echo "not drape: npm $*" >&2; return 1; }
  shift 4
  node "$ROOT/scripts/drape.ts" "$@"
}`

describe('the operator commands of the docs', () => {
  let drape: Drape
  let folder: string
  let placeholders: Readonly<Record<string, string>>

  beforeAll(async () => {
    drape = await startDrape({ credits: 1000 })
    folder = (await requestService('folder', null)).path
    symlinkSync(join(ROOT, 'scripts'), join(folder, 'scripts'))
    const publishable = await createAccounts(drape.database).insertKey(drape.accountId, 'publishable')
    const image = await readSample('garments/tshirt-mustard.jpg')
    const product = { externalId: 'shirt-17', title: 'T-shirt', images: [{ source: { fileKey: 'image' } }] }
    await drape.call('POST', '/tryon/v1/products', { body: formOf(product, { image }) })
    const person = await readSample('persons/down-half-teal.jpg')
    const generationId = await drape.tryOn(
      { products: [product], person: { image: { source: { fileKey: 'person' } } }, output: { engine: 'mock' } },
      { image, person },
    )
    await drape.startWorker()
    await drape.finish(generationId)
    const endpoint = await createEndpoint()
    const { host, pathname, username, password } = new URL(drape.env.DATABASE_URL)
    placeholders = {
      // The service obtains tokens from there.
      'my-shop.myshopify.com': 'my-shop.example',
      'acc_…': drape.accountId,
      $ACCOUNT: drape.accountId,
      'pk_…': publishable,
      'gen_…': generationId,
      'endpoint_…': endpoint,
      'sk_…': drape.apiKey,
      'http://127.0.0.1:8080': drape.api.url,
      'https://tryon.example.com': drape.api.url,
      'postgres://drape_': `postgres://${ROLES}_`,
      ':…@host/drape': `:password@${host}${pathname}`,
      'postgres://owner:password': `postgres://${username}:${password}`,
      // It ends with 1 when it finds something, as here: an installation without TLS, backups and more.
      '-- doctor  ': '-- doctor || test $? -eq 1; true  ',
    }
    for (const [name, content] of Object.entries({
      'app-secret': 'a secret of the app\n',
      'key.txt': `${drape.apiKey}\n`,
      'catalogue.csv': 'externalId,title\nshirt-17,Another title\n',
      'logo.png': await readSample('garments/tshirt-vneck-red.jpg'),
    }))
      writeFileSync(join(folder, name), content)
  })
  afterAll(async () => {
    // Roles belong to the server and outlive the database.
    const roles = await drape?.database.anyFirst(
      sql.type(rowType(Type.Object({ name: Type.String() })))`
        select rolname::text as name from pg_roles where starts_with(rolname, ${ROLES})`,
    )
    for (const role of (roles ?? []).map((name) => sql.identifier([name]))) {
      await drape.database.query(sql.unsafe`drop owned by ${role}`)
      await drape.database.query(sql.unsafe`drop role ${role}`)
    }
    await drape?.stop()
  })
  // Pages name the same domain and the same operator.
  beforeEach(async () => {
    await drape.database.query(sql.unsafe`delete from shops`)
    await drape.database.query(sql.unsafe`delete from operators`)
  })

  const run = async (script: string) => {
    const env = { ...process.env, ...drape.env, ROOT, DRAPE_URL: drape.api.url, DRAPE_API_KEY: drape.apiKey }
    const text = `set -eu\n${NPM}\n${script}`
    const { stdout } = await promisify(execFile)('bash', ['-o', 'pipefail', '-c', text], { cwd: folder, env })
    return stdout
  }
  async function createEndpoint() {
    const create = `webhook create --account ${drape.accountId} --url https://shop.example/hook --json`
    const { id } = JSON.parse(await run(`npm run --silent drape -- ${create}`))
    await createWebhooks(drape.database).insertTest(id)
    return id
  }

  it.each(PAGES)('succeed, on %s', async (page, numbers, written) => {
    // Whose analytics the page asks for.
    if (page === 'docs/api.md')
      await drape.database.query(sql.unsafe`
      insert into shops (id, account_id, platform, domain) values ('shop_1', ${drape.accountId}, 'plugin', 'shop.example')`)
    const blocks = blocksOf(page).filter(({ language }) => language === 'sh')
    const commands = numbers.flatMap((number) => blocks[number].text.split('\n'))
    const script = commands.filter((line) => !LEFT_OUT.test(line)).join('\n')
    const filled = Object.entries(placeholders).reduce((text, [from, to]) => text.replaceAll(from, to), script)
    expect(filled.match(/^[^#\n]*…/m), 'a placeholder without a value').toBeNull()
    expect(await run(filled)).toMatch(written)
  })
})
