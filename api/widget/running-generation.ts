import { quietly } from './failure.ts'
import type { Settings } from './settings.ts'
import { recall, remember } from './visit.ts'

const PREFIX = 'drape:wish:'

/** Stores the generation of a product, so that a reloaded page finds its result until the tab is closed. */
export function rememberGeneration(settings: Settings, jobId: string): void {
  remember(() => sessionStorage, keyOf(settings), jobId)
}

export function recallGeneration(settings: Settings): string | null {
  return recall(() => sessionStorage, keyOf(settings))
}

export function forgetGeneration(settings: Settings): void {
  remember(() => sessionStorage, keyOf(settings), '')
}

/** Deletes the stored generations of all products. */
export function forgetGenerations(): void {
  quietly(() => {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
  })
}

function keyOf({ product, variant }: Settings): string {
  return `${PREFIX}${variant ?? product}`
}
