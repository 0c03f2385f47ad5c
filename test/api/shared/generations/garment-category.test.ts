import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { categoryFromWords } from '../../../../api/shared/generations/garment-category.ts'

/** Titles as shops write them, by language and by the category that they name; `none` names none. */
const TITLES = readFileSync(resolve(import.meta.dirname, 'product-titles.txt'), 'utf8')
  .trim()
  .split('\n')
  .flatMap((line) => {
    const [, language, category, list] = line.match(/^(\w+) ([\w-]+): (.+)$/) ?? []
    return list.split(' | ').map((title) => ({ language, category, title }))
  })
const LANGUAGES = [...new Set(TITLES.map(({ language }) => language))]

describe('categoryFromWords', () => {
  it.each([
    ['Cotton tee', 'tops'],
    ['Langarmshirt', 'tops'],
    ['Sweat à capuche', 'tops'],
    ['Camiseta de algodón', 'tops'],
    ['Maglietta a righe', 'tops'],
    ['Overhemd blauw', 'tops'],
    ['Jeans slim', 'bottoms'],
    ['Minirock', 'bottoms'],
    ['Jupe plissée', 'bottoms'],
    ['Calça jeans', 'bottoms'],
    ['Zwarte broek', 'bottoms'],
    ['Vestido midi', 'one-pieces'],
    ['Jurk met print', 'one-pieces'],
    ['Lederjacke', 'outerwear'],
    ['Giacca in pelle', 'outerwear'],
  ])('reads %s as %s', (title, category) => {
    expect(categoryFromWords({ title })).toBe(category)
  })

  it.each(LANGUAGES)('reads the titles of shops in the language %s', (language) => {
    const titles = TITLES.filter((entry) => entry.language === language)
    const wrong = titles.filter(({ title, category }) => (categoryFromWords({ title }) ?? 'none') !== category)
    expect(wrong).toEqual([])
    expect(titles.length).toBeGreaterThanOrEqual(40)
  })

  it('finds no word inside another', () => {
    for (const title of [
      'Bademantelhaken',
      'Damenbademantel',
      'Strumpfhose',
      'Petticoat',
      'Kleiderbügel',
      'Hosenträger',
      'Topas',
    ])
      expect(categoryFromWords({ title }), title).toBeNull()
  })

  it('does not take a bathrobe for a coat because its description does', () => {
    expect(categoryFromWords({ title: 'Bademantel', description: 'Ein Mantel aus Frottee' })).toBe('other')
    expect(categoryFromWords({ title: 'Kleid mit Bademantel' })).toBe('one-pieces')
  })

  it('uses the head noun of a compound in each language', () => {
    expect(categoryFromWords({ title: 'Shirt dress' })).toBe('one-pieces')
    expect(categoryFromWords({ title: 'Dress shirt' })).toBe('tops')
    expect(categoryFromWords({ title: 'Robe chemise' })).toBe('one-pieces')
    expect(categoryFromWords({ title: 'Blusenkleid' })).toBe('one-pieces')
  })

  it('ignores accompanying garments', () => {
    expect(categoryFromWords({ title: 'Sommerkleid mit Jacke' })).toBe('one-pieces')
    expect(categoryFromWords({ title: 'Pullover for your jeans' })).toBe('tops')
  })

  it('prefers the given category, then the title, then the description', () => {
    expect(categoryFromWords({ classifications: { category: 'bottoms' }, title: 'T-Shirt' })).toBe('bottoms')
    expect(categoryFromWords({ title: 'T-Shirt', description: 'Goes with every skirt' })).toBe('tops')
    expect(categoryFromWords({ title: 'Summer 24', description: 'A light dress' })).toBe('one-pieces')
  })

  it('reads the given category in any letter case, and ignores an unknown one', () => {
    expect(categoryFromWords({ classifications: { category: 'One-Pieces' }, title: 'T-Shirt' })).toBe('one-pieces')
    expect(categoryFromWords({ classifications: { category: 'hats' }, title: 'T-Shirt' })).toBe('tops')
  })

  it('returns null when no word names a garment', () => {
    expect(categoryFromWords({ title: 'Coffee mug', description: null })).toBeNull()
    expect(categoryFromWords({ classifications: { category: 'hats' } })).toBeNull()
    expect(categoryFromWords({ title: 'constructor __proto__' })).toBeNull()
  })
})
