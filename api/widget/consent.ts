import { forgetPhoto } from './photo.ts'
import { forgetResults } from './results.ts'
import type { ConsentNotice, Shop } from './shop.ts'
import { forgetWishes } from './wish.ts'

/** What the shop asks of a visitor before it takes a photo, and what the visitor said. */
export interface Consent {
  /** The notice of the shop; null when it cannot be fetched. The service refuses a photo without consent all the same. */
  load(): Promise<ConsentNotice | null>
  /** The visitor has ticked the box: it is recorded before the next photo is sent. */
  agree(notice: ConsentNotice): void
  /** Records what was agreed to. */
  settle(nameVisitor: () => Promise<void>): Promise<void>
  /** The notice is fetched again: another version may count now. */
  forget(): void
  /** Erases what is stored of the visitor. */
  withdraw(): Promise<void>
}

export function createConsent({ shop, tag }: { shop: Shop; tag: string }): Consent {
  let loading: Promise<ConsentNotice | null> | null = null
  let agreed: ConsentNotice | null = null
  const forget = () => {
    loading = null
    agreed = null
  }
  return {
    load: () => {
      loading ??= shop.findConsent(tag).catch(() => {
        loading = null
        return null
      })
      return loading
    },
    agree: (notice) => {
      agreed = notice
    },
    settle: async (nameVisitor) => {
      if (agreed === null) return
      await nameVisitor()
      const { at } = await shop.giveConsent(agreed)
      loading = Promise.resolve({ ...agreed, givenAt: at })
      agreed = null
    },
    forget,
    withdraw: async () => {
      await shop.withdrawConsent()
      forgetPhoto()
      forgetResults()
      forgetWishes()
      forget()
    },
  }
}
