import { readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { findViolations } from '../support/invariants.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { nothingTried, type Scenario } from '../support/scenario.ts'
import type { Shop } from '../support/shop.ts'
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts'

export const fullDisks: Scenario<{ fills: number; orders: number }> = {
  id: 'R13',
  what: 'the disk of Postgres or of uploads is full',
  quick: { fills: 1, orders: 20 },
  full: { fills: 5, orders: 100 },
  run: async ({ size, random }) => {
    const [data, temporary] = [await mountSmallDisk(220), await mountSmallDisk(8)]
    if (!data || !temporary) return nothingTried('this user must not mount a file system')
    const platform = await startPlatform({ random, postgresFolder: data.folder })
    try {
      const shop = await platform.openShop({ credits: 10_000 })
      const workers = await platform.startWorkers(1)
      const violations: string[] = []
      for (let fill = 0; fill < size.fills; fill++) {
        violations.push(...(await fillDatabase({ platform, shop, disk: data, orders: size.orders })))
        violations.push(...(await fillUploads(platform, temporary)))
      }
      await platform.settle()
      await workers.stop()
      const refused = shop.orders.filter(({ status }) => status === 503).length
      return {
        accepted: [],
        injected: { fills: 2 * size.fills },
        measured: { accepted: shop.accepted.length, refused },
        violations: [...violations, ...(await findViolations(platform, shop.accepted)), ...platform.unexpectedErrors()],
      }
    } finally {
      await platform.stop()
      for (const disk of [data, temporary]) disk.unmount()
    }
  },
}

async function fillDatabase({
  platform,
  shop,
  disk,
  orders,
}: {
  platform: Platform
  shop: Shop
  disk: SmallDisk
  orders: number
}): Promise<string[]> {
  disk.fill()
  const before = shop.orders.length
  for (let order = 0; order < orders; order++) await shop.order()
  disk.free()
  // A database that cannot write its log ends itself; its supervisor restarts it.
  if (!(await answers(platform))) {
    await platform.postgres.crash()
    await platform.postgres.start()
  }
  while ((await shop.order()).status !== 201) await sleep(100)
  return shop.orders
    .slice(before)
    .filter(({ status }) => status !== 201 && status !== 503)
    .map(({ status, code }) => `an order was answered with ${status} ${code} while the disk was full`)
}

async function answers({ replicas }: Platform): Promise<boolean> {
  const response = await fetch(`${replicas.members[0].probeUrl}/readyz`)
  const { failed = {} } = (await response.json()) as { failed?: Record<string, string> }
  return !('postgres' in failed)
}

/** A replica whose temporary files lie on the disk refuses an upload that does not fit, and keeps nothing of it. */
async function fillUploads(platform: Platform, disk: SmallDisk): Promise<string[]> {
  const replica = await platform.startReplica({ TMPDIR: disk.folder })
  const shop = await platform.openShop({ credits: 1, at: replica })
  disk.fill()
  const refusal = await shop.upload(new Uint8Array(6 << 20))
  disk.free()
  const left = (await readdir(disk.folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const accepted = await shop.upload()
  await replica.stop()
  return [
    ...(refusal === 503 ? [] : [`an upload to a full disk was answered with ${refusal}`]),
    ...(left.length === 0 ? [] : [`${left.length} files of it are left`]),
    ...(accepted === 201 ? [] : [`an upload to a disk with room was answered with ${accepted}`]),
  ]
}
