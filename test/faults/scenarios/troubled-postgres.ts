import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '../../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../../api/shared/database/database.ts'
import type { Scenario } from '../support/scenario.ts'

const Terminated = rowType(Type.Object({ terminated: Type.Boolean() }))

export const troubledPostgres: Scenario<{ terminations: number; readOnlyMs: number; heldMs: number }> = {
  id: 'R6b',
  what: 'Postgres ends connections, refuses to write, and is held up by a lock',
  quick: { terminations: 10, readOnlyMs: 1500, heldMs: 2000 },
  full: { terminations: 200, readOnlyMs: 10_000, heldMs: 12_000 },
  run: async ({ platform, size, random }) => {
    const { database } = platform
    const shop = await platform.openShop({ credits: 10_000 })
    const workers = await platform.startWorkers(2)
    let isOver = false
    const ordering = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!isOver) {
          await shop.order({ imageMs: random.between(0, 300) })
          await sleep(50)
        }
      }),
    )
    let terminated = 0
    for (let i = 0; i < size.terminations; i++) {
      await sleep(random.between(0, 200))
      const rows = await database.any(sql.type(Terminated)`
        select pg_terminate_backend(pid) as terminated from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid() order by random() limit 2`)
      terminated += rows.length
    }
    await setReadOnly(true)
    await sleep(size.readOnlyMs)
    await setReadOnly(false)
    await database.transaction(async (transaction) => {
      await transaction.query(sql.unsafe`select from accounts where id = ${shop.accountId} for update`)
      await sleep(size.heldMs)
    })
    isOver = true
    await ordering
    await platform.settle()
    await workers.stop()
    const odd = shop.orders.filter(({ status }) => status !== 201 && status !== 503)
    return {
      accepted: shop.accepted,
      injected: { terminated, 'read only': 1, 'held up': 1 },
      measured: { refused: shop.orders.length - shop.accepted.length },
      violations: odd.map(({ status, code }) => `an order was answered with ${status} ${code}`),
    }

    async function setReadOnly(on: boolean): Promise<void> {
      await database.query(sql.unsafe`select set_config('transaction_read_only', 'off', true)`)
      await database.query(
        on
          ? sql.unsafe`alter database drape set default_transaction_read_only = on`
          : sql.unsafe`alter database drape reset default_transaction_read_only`,
      )
      // Connections learn of it when they begin.
      await database.any(sql.type(Terminated)`
        select pg_terminate_backend(pid) as terminated from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()`)
    }
  },
}
