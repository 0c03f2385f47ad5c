import type { Settings } from './settings.ts'
import { recall, remember } from './visit.ts'

/** Keeps what was wished for a product, so that a page that was left finds its picture again while the tab is open. */
export function rememberWish(settings: Settings, jobId: string): void {
  remember(() => sessionStorage, keyOf(settings), jobId)
}

export function recallWish(settings: Settings): string | null {
  return recall(() => sessionStorage, keyOf(settings))
}

export function forgetWish(settings: Settings): void {
  remember(() => sessionStorage, keyOf(settings), '')
}

function keyOf({ product, variant }: Settings): string {
  return `drape:wish:${variant ?? product}`
}
