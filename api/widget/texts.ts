import type { Failure } from './failure.ts'
import sameWords from './same-words.json' with { type: 'json' }
import en from './texts/en.json' with { type: 'json' }

/** All texts of the widget. `{…}` is a placeholder. */
export type Texts = Omit<typeof en, 'errors'> & { readonly errors: Readonly<Record<string, string>> }

export interface Language {
  /** Language tag as in `lang`. */
  readonly tag: string
  readonly direction: 'ltr' | 'rtl'
  readonly texts: Texts
}

/** Languages besides English; the service has a file for each at `/widget/<code>.json`. */
const LOADED = ['ar', 'de', 'es', 'fr', 'it', 'pl', 'pt']
const RIGHT_TO_LEFT = /^(ar|ckb|dv|fa|he|iw|ps|sd|ug|ur|yi)\b/
/** A page in another language shows English texts rather than no button. */
const PATIENCE_MS = 4000

/** Loads the texts of a language, each once for all elements of a page. */
export type LoadTexts = (code: string, base: string) => Promise<Partial<Texts>>

export function createTextLoader(): LoadTexts {
  const loading = new Map<string, Promise<Partial<Texts>>>()
  return (code, base) => {
    const url = `${base}/widget/${code}.json`
    const forget = () => {
      loading.delete(url)
      return {}
    }
    const found = loading.get(url) ?? fetchTexts(url).catch(forget)
    loading.set(url, found)
    return found
  }
}

async function fetchTexts(url: string): Promise<Partial<Texts>> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) })
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`)
  return (await answer.json()) as Partial<Texts>
}

/**
 * Language of an element: its `lang`, else that of the surrounding page, else English; with texts that the merchant put
 * into the element as JSON, or as its `label`. Texts that do not load are English.
 */
export async function readLanguage(host: HTMLElement, base: string, load: LoadTexts): Promise<Language> {
  const tag = cleanTag(host.closest('[lang]')?.getAttribute('lang') ?? '')
  const code = tag.split('-')[0]
  const loaded: Partial<Texts> = LOADED.includes(code) ? await load(code, base) : {}
  const { errors, ...own } = readOwn(host)
  const label = host.getAttribute('label')
  const texts = {
    ...en,
    ...loaded,
    ...own,
    ...(label && { button: label }),
    errors: { ...en.errors, ...loaded.errors, ...errors },
  }
  const isSpoken = code === 'en' || Object.keys(loaded).length > 0 || Object.keys(own).length > 0
  return isSpoken ? { tag, direction: RIGHT_TO_LEFT.test(tag) ? 'rtl' : 'ltr', texts } : { ...ENGLISH, texts }
}

const ENGLISH = { tag: 'en', direction: 'ltr' } as const

/** A tag that formatters and the service accept: shops also write `de_DE`. */
function cleanTag(written: string): string {
  try {
    return Intl.getCanonicalLocales(written.trim().replaceAll('_', '-'))[0] ?? 'en'
  } catch {
    return 'en'
  }
}

function readOwn(host: HTMLElement): Partial<Texts> {
  const data = host.querySelector('script[type="application/json"]')?.textContent
  if (!data) return {}
  try {
    return JSON.parse(data) as Partial<Texts>
  } catch {
    console.warn('drape-try-on: the texts in the element are not JSON')
    return {}
  }
}

/** Fills the placeholders of a text. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}

/** Codes that mean the same to a shopper as another one. */
const SAME: Readonly<Record<string, string>> = sameWords

/** The text of a failure. */
export function explain(failure: Failure, { errors }: Texts): string {
  const code = failure.period === null ? failure.code : `${failure.period.toUpperCase()}_EXCEEDED`
  const minutes = Math.max(1, Math.ceil((failure.retrySeconds ?? 60) / 60))
  return fill(errors[code] ?? errors[SAME[code]] ?? errors.UNEXPECTED, { minutes: String(minutes) })
}
