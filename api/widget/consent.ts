import { forgetPhoto } from './photo.ts'
import { forgetResults } from './results.ts'
import { forgetGenerations } from './running-generation.ts'
import type { ConsentNotice, Shop } from './shop.ts'

/** The consent that the shop requires before a photo, and the visitor's answer. */
export interface Consent {
  /** The notice of the shop; null when it cannot be fetched. The service refuses a photo without consent all the same. */
  load(): Promise<ConsentNotice | null>
  /** Called when the visitor ticks the box; the consent is recorded before the next photo is sent. */
  agree(notice: ConsentNotice): void
  /** Records the consent. */
  settle(nameVisitor: () => Promise<void>): Promise<void>
  /** Fetches the notice again, because the policy may have a newer version. */
  forget(): void
  /** Erases the stored data of the visitor. */
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
      forgetGenerations()
      forget()
    },
  }
}
