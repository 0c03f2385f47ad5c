import type { Failure } from './failure.ts'
import de from './texts/de.json' with { type: 'json' }
import en from './texts/en.json' with { type: 'json' }
import es from './texts/es.json' with { type: 'json' }
import fr from './texts/fr.json' with { type: 'json' }

/** All texts of the widget. `{…}` is a placeholder. */
export type Texts = Omit<typeof en, 'errors'> & { readonly errors: Readonly<Record<string, string>> }

export interface Language {
  /** Language tag as in `lang`. */
  readonly tag: string
  readonly texts: Texts
}

const LANGUAGES: Readonly<Record<string, Texts>> = { en, de, fr, es }

/**
 * Language of an element: its `lang`, else that of the surrounding page, else English; with texts that the merchant put
 * into the element as JSON, or as its `label`.
 */
export function readLanguage(host: HTMLElement): Language {
  const tag = host.closest('[lang]')?.getAttribute('lang') || 'en'
  const base = LANGUAGES[tag.slice(0, 2).toLowerCase()] ?? en
  const { errors = {}, ...own } = readOwn(host)
  const label = host.getAttribute('label')
  const texts = { ...base, ...own, ...(label && { button: label }), errors: { ...base.errors, ...errors } }
  const isSpoken = base !== en || tag.toLowerCase().startsWith('en') || Object.keys(own).length > 0
  return { tag: isSpoken ? tag : 'en', texts }
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

/** The text of a failure. */
export function explain(failure: Failure, { errors }: Texts): string {
  const code = failure.period === null ? failure.code : `${failure.period.toUpperCase()}_EXCEEDED`
  const minutes = Math.max(1, Math.ceil((failure.retrySeconds ?? 60) / 60))
  return fill(errors[code] ?? errors.UNEXPECTED, { minutes: String(minutes) })
}
