import { toJson } from '../client/json.ts'
import { recall, remember } from './visit.ts'

/** A finished try-on. */
export interface Result {
  readonly generationId: string
  /** Works for an hour; the service gives a new one. */
  readonly resultImageUrl: string
  readonly product: string
  /** Title of the product. */
  readonly title: string
  /** The part of the photo that it was made from; works for some minutes. Absent if it is not known. */
  readonly viewUrl?: string | null
}

const KEY = 'drape:results'
const MAX_RESULTS = 12

/** The results of this tab, newest first, until the tab is closed. */
export function recallResults(): Result[] {
  try {
    const found: unknown = JSON.parse(recall(() => sessionStorage, KEY) ?? '[]')
    return Array.isArray(found) ? found.filter(isResult) : []
  } catch {
    return []
  }
}

function isResult(found: Partial<Result> | null): found is Result {
  const texts = [found?.generationId, found?.resultImageUrl, found?.product, found?.title]
  return texts.every((text) => typeof text === 'string')
}

export function rememberResult(result: Result): void {
  const others = recallResults().filter(({ generationId }) => generationId !== result.generationId)
  store([result, ...others].slice(0, MAX_RESULTS))
}

export function forgetResult(id: string): void {
  store(recallResults().filter(({ generationId }) => generationId !== id))
}

export function forgetResults(): void {
  store([])
}

function store(results: readonly Result[]): void {
  remember(() => sessionStorage, KEY, results.length === 0 ? '' : toJson(results))
}
