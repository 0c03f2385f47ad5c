import type { Middleware } from 'koa'
import type { Connections } from '../config.ts'
import { createDiskBudgets } from '../http/bodies/disk-budget.ts'
import { apiKey } from '../http/middleware/api-key.ts'
import { parseBody } from '../http/middleware/body.ts'
import { idempotency } from '../http/middleware/idempotency.ts'
import { keyScope } from '../http/middleware/key-scope.ts'
import { rateLimit } from '../http/middleware/rate-limit.ts'
import { spoolBody } from '../http/middleware/spooled-body.ts'
import type { AppState } from '../http/state.ts'
import { BATCH_TYPES } from '../products/product-batches.routes.ts'
import { createIdempotencyKeys } from '../shared/database/idempotency.store.ts'
import { createAccounts } from './accounts.store.ts'
import { createApiKeys } from './api-keys.store.ts'
import { createKeyLookup } from './key-lookup.ts'
import { createKeyUses } from './key-uses.ts'
import { createNotices } from './notices.store.ts'
import { startNotices } from './notices.ts'

export type Accounts = ReturnType<typeof startAccounts>

/**
 * Creates the stores of accounts and the guards of routes behind an API key, and sends notices. `guard` checks each of their requests after
 * authentication, and again when its body is read.
 */
export function startAccounts(
  { config, database, backgroundDatabase, redis, lifecycle, log, metrics, sendMail }: Connections,
  { guard }: { readonly guard: Middleware<AppState> },
) {
  const keys = createApiKeys(database)
  const uses = createKeyUses({ keys, log })
  lifecycle.onStop('uses of keys', () => uses.stop())
  if (sendMail !== null) {
    const noticing = startNotices({
      notices: createNotices(backgroundDatabase),
      send: sendMail,
      installation: config.PUBLIC_URL,
      serviceName: config.SERVICE_NAME,
      log,
    })
    lifecycle.onStop('notices', () => noticing.stop())
  }
  const authenticate = apiKey({ findKey: createKeyLookup({ keys, kind: 'secret', uses }) })
  const onLocal = () => metrics.localCounts.inc()
  const disk = createDiskBudgets(config.UPLOAD_DISK_MB)
  const reading = [authenticate, rateLimit({ redis, onLocal }), keyScope(), guard]
  const idempotent = idempotency({ keys: createIdempotencyKeys(database) })
  return {
    accounts: createAccounts(database),
    uses,
    authenticate,
    reading,
    writing: [...reading, parseBody({ disk: disk.accounts }), guard, idempotent],
    polling: [authenticate, rateLimit({ redis, kind: 'polls', onLocal }), keyScope(), guard, parseBody()],
    writingBatch: [...reading, spoolBody(BATCH_TYPES, { disk: disk.accounts }), idempotent],
    /** Disk budget for files of shoppers, by network address. */
    shopperDisk: disk.shoppers,
  }
}
