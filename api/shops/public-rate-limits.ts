import type { Shopper } from './shopper.ts'

/** Budgets of a public route: requests that each window of `seconds` allows. */
export interface StorefrontBudget {
  readonly seconds: number
  /** Of a visitor: signed customer, visitor token or anonymous ID; without a name of the address, without an address of the shop. */
  readonly visitor?: number
  /** Of a network address; for visitors of a shop: within the shop. */
  readonly address?: number
  /** Of a network: /24, or /48 of IPv6. */
  readonly network?: number
  /**
   * Of a network, which the budgets below never refuse: otherwise a few networks could use up what all share, and shut out
   * everyone else.
   */
  readonly reserved?: number
  /** Of all visitors of a shop whom neither the shop nor the service has signed, and who can therefore be invented. */
  readonly strangers?: number
  /** Of all visitors of a shop. */
  readonly shop?: number
  /** Of everyone. */
  readonly all?: number
  /** Open responses of each API process. */
  readonly open?: { readonly visitor: number; readonly address: number }
}

export type BudgetLayer = Exclude<keyof StorefrontBudget, 'seconds' | 'open'>

/** Who sends a request; without a shop, `shopId` is empty. */
export interface Caller {
  readonly shopId: string
  readonly shopper: Shopper
}

/** The budget that refuses a request. */
export interface BudgetRefusal {
  readonly layer: BudgetLayer
  /** Seconds until the budget is available again. */
  readonly retrySeconds: number
}

const MINUTE = 60
const FIVE_MINUTES = 300
const HOUR = 3600

/** Events are limited apart, by their number and bytes: `event-limit.ts`. */
export const STOREFRONT_BUDGETS = {
  'visitor-token': { seconds: HOUR, address: 20, reserved: 2, shop: 5000 },
  'consent-notice': { seconds: FIVE_MINUTES, visitor: 60, address: 360 },
  consent: { seconds: FIVE_MINUTES, visitor: 20, address: 120 },
  /** The ledger of consents is kept for years: invented visitors must not fill it. */
  'consent-ledger': { seconds: HOUR, reserved: 2, strangers: 5000 },
  'withdraw-consent': { seconds: FIVE_MINUTES, visitor: 10, address: 60 },
  /** The log of erasures is kept forever. Only withdrawals of visitors without stored data count. */
  'erasure-log': { seconds: HOUR, reserved: 2, shop: 1000 },
  upload: { seconds: FIVE_MINUTES, visitor: 10, address: 60 },
  'upload-link': { seconds: FIVE_MINUTES, visitor: 10, address: 120 },
  /** Twice the uploads: browsers repeat a completion whose response was lost. */
  'upload-complete': { seconds: FIVE_MINUTES, visitor: 20, address: 120 },
  /** Apart from the weekly and daily limits of generations, which refuse only after a look-up in the database. */
  'fitting-room': { seconds: MINUTE, visitor: 60, address: 300 },
  'product-lookup': { seconds: MINUTE, address: 20, reserved: 2, shop: 120 },
  /** A poll every 2 s of each of the 10 generations that a visitor may have. */
  generation: { seconds: MINUTE, visitor: 300, address: 1800 },
  'generation-events': { seconds: MINUTE, visitor: 60, address: 360, open: { visitor: 10, address: 60 } },
  'check-credits': { seconds: MINUTE, visitor: 60, address: 1200 },
  share: { seconds: MINUTE, visitor: 20, address: 400, reserved: 2, strangers: 400 },
  download: { seconds: MINUTE, visitor: 100, address: 2000, reserved: 10, strangers: 2000 },
  'collect-email': { seconds: MINUTE, visitor: 10, address: 20, reserved: 2, shop: 600 },
  'share-page': { seconds: MINUTE, address: 60 },
  /** The verification takes processor time. */
  verify: { seconds: MINUTE, address: 20, network: 80 },
  'privacy-page': { seconds: MINUTE, address: 60 },
  'appeal-page': { seconds: MINUTE, address: 60 },
  appeal: { seconds: HOUR, address: 10, network: 40 },
  'removal-page': { seconds: MINUTE, address: 30 },
  removal: { seconds: HOUR, address: 5, network: 20 },
  /** A flood from many addresses must not bury the requests of people. */
  'removal-store': { seconds: HOUR, reserved: 2, all: 300 },
  'receipt-keys': { seconds: MINUTE, address: 60 },
} as const satisfies Readonly<Record<string, StorefrontBudget>>

export type BudgetName = keyof typeof STOREFRONT_BUDGETS

const WINDOWS: Readonly<Record<number, string>> = { [MINUTE]: 'minute', [FIVE_MINUTES]: '5 minutes', [HOUR]: 'hour' }

const OWNERS: Readonly<Record<Exclude<BudgetLayer, 'reserved'>, string>> = {
  visitor: 'of a visitor',
  address: 'of a network address',
  network: 'of a network (/24 or /48)',
  strangers: 'of all visitors of the shop without a sign-in or a visitor token',
  shop: 'of all visitors of the shop',
  all: 'of everyone',
}

/** The limits in words, for the description of a route. */
export function describeBudget(name: BudgetName): string {
  const row: StorefrontBudget = STOREFRONT_BUDGETS[name]
  const layers = Object.entries(OWNERS).flatMap(([layer, owner]) => {
    const points = row[layer as keyof typeof OWNERS]
    return points === undefined ? [] : [`${points.toLocaleString('en')} ${owner}`]
  })
  const reserved = row.reserved === undefined ? '' : `; ${row.reserved} of a network (/24 or /48) in any case`
  return `Limits per ${WINDOWS[row.seconds]}: ${layers.join(', ')}${reserved}.`
}
