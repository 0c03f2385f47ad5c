import type { Scenario } from '../support/scenario.ts'

export const lastCredits: Scenario<{ credits: number; orders: number }> = {
  id: 'R16',
  what: 'more is ordered at once than there are credits for',
  quick: { credits: 30, orders: 300 },
  full: { credits: 100, orders: 1000 },
  run: async ({ platform, size }) => {
    const shop = await platform.openShop({ credits: size.credits })
    await Promise.all(Array.from({ length: size.orders }, () => shop.order()))
    const accepted = shop.accepted.length
    const refused = shop.orders.filter(({ code }) => code === 'INSUFFICIENT_CREDITS').length
    const workers = await platform.startWorkers(2)
    await platform.settle()
    await workers.stop()
    return {
      accepted: shop.accepted,
      injected: { orders: size.orders },
      measured: { accepted, refused },
      violations:
        accepted === size.credits && accepted + refused === size.orders
          ? []
          : [`${accepted} were accepted and ${refused} refused`],
    }
  },
}
