import { route } from '../../http/route.ts'
import type { AppContext } from '../../http/state.ts'
import type { Budgets } from '../../shops/limit-public-routes.ts'
import { describeBudget } from '../../shops/public-rate-limits.ts'
import { ReceiptKeySet } from './receipt-keys.schema.ts'
import type { ReceiptKeys } from './receipt-keys.store.ts'

export interface ReceiptKeyParts {
  readonly receiptKeys: Pick<ReceiptKeys, 'list'>
}

interface ReceiptKeyGuards {
  readonly budgets: Budgets
}

const AGE_SECONDS = 300

export const receiptKeyRoutes = [
  route({
    method: 'get',
    path: '/receipts/keys',
    id: 'listReceiptKeys',
    tag: 'Storefront',
    summary: 'List the public keys of receipts',
    description: `A JSON Web Key Set (RFC 7517, RFC 8037) of every key with which this installation has signed receipts of erasures. Use the keys to
verify a receipt. ${describeBudget('receipt-keys')}`,
    access: 'open',
    answers: { 200: { description: 'The newest key first.', schema: ReceiptKeySet } },
    errors: ['RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    guards: ({ budgets }: ReceiptKeyGuards) => [budgets.limit('receipt-keys')],
    handler: listKeys,
  }),
]

async function listKeys(ctx: AppContext, { receiptKeys }: ReceiptKeyParts): Promise<ReceiptKeySet> {
  const keys = await receiptKeys.list()
  ctx.set('Cache-Control', `public, max-age=${AGE_SECONDS}`)
  return {
    keys: keys.map(({ keyId, publicKey }) => ({
      kty: 'OKP',
      crv: 'Ed25519',
      use: 'sig',
      kid: keyId,
      x: Buffer.from(publicKey, 'base64').toString('base64url'),
    })),
  }
}
