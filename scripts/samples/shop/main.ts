import { randomUUID } from 'node:crypto'
import { aborted, runDrape, runSession, say } from '../../stack/session.ts'
import type { Stack } from '../../stack/stack.ts'
import { registerProducts } from './products.ts'
import { startShop } from './server.ts'

interface Account {
  readonly id: string
  readonly apiKey: string
  readonly publishableKey: string
}

/** Unique per run, as its account: a shop belongs to one account permanently. */
const SITE = `halden-${randomUUID()}.example`
const port = Number(process.env.SHOP_PORT || 8090)

await runSession(async (stack, interrupted) => {
  const apiUrl = stack.report.url
  const { id, apiKey, publishableKey } = await runDrape<Account>(
    stack,
    'account',
    'create',
    '--name',
    'Halden',
    '--credits',
    '100',
  )
  await registerProducts({ apiUrl, apiKey })
  const secret = await createShop(stack, id)
  const shop = await startShop({ apiUrl, site: SITE, secret, publishableKey, customerId: '', port })
  process.stdout.write(`
The shop:  ${shop.url}
A product: ${shop.url}/products/101
The photo: scripts/samples/persons/down-half-teal.jpg, or one of your own
`)
  say('\nThe shop keeps running. Press Ctrl-C to stop it.')
  await aborted(interrupted)
  await shop.stop()
})

async function createShop(stack: Stack, accountId: string): Promise<string> {
  const shop = ['--platform', 'plugin', '--domain', SITE, '--name', 'Halden']
  const { secret } = await runDrape<{ secret: string }>(stack, 'shop', 'create', '--account', accountId, ...shop)
  return secret
}
