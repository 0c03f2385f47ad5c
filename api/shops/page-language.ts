import type { AppContext } from '../http/state.ts'

/** Languages of the visitor of a page, best first: `lang` of the query, else those of `Accept-Language`. */
export function pageLanguages(ctx: AppContext): readonly string[] {
  const { lang } = ctx.query
  return typeof lang === 'string' ? [lang] : [ctx.acceptsLanguages()].flat().map(String)
}

/** The first of these languages that has texts; English without one. */
export function chooseLanguage(languages: readonly string[], texts: Readonly<Record<string, unknown>>): string {
  const codes = languages.map((tag) => tag.slice(0, 2).toLowerCase())
  return codes.find((code) => Object.hasOwn(texts, code)) ?? 'en'
}
