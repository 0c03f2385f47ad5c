import { readdirSync, readFileSync } from 'node:fs'

/** Texts by language, without the English ones: each file of the folder has the name of its language. */
export function readTranslations<Text>(folder: URL): Readonly<Record<string, Text>> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json') && name !== 'en.json')
  return Object.fromEntries(
    names.map((name) => [name.slice(0, -5), JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Text]),
  )
}

/** Texts of a page by language. */
export function readPageTexts<Text>(en: Text, folder: URL): Readonly<Record<string, Text>> {
  return { en, ...readTranslations<Text>(folder) }
}

/** Fills the placeholders `{…}` of a text. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}
