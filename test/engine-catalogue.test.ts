import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import {
  BUILT_IN_ENGINES,
  DEFAULT_ENGINE,
  ENGINE_CATALOGUE,
  engineFacts,
  WORKER_ENGINES,
} from '../api/shared/engines/engine-catalogue.ts'
import { CATEGORIES, GARMENT_TYPES } from '../api/shared/generations/generation.ts'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const exported = BUILT_IN_ENGINES.filter((name) => !WORKER_ENGINES.includes(name))

describe('the engine catalogue', () => {
  it('matches the engines, licences and default engine of the chart', () => {
    const values = parse(read('charts/drape/values.yaml'))
    const licences = WORKER_ENGINES.map((name) => [name, licenceOf(name)])
    const inChart = Object.entries<{ license: object }>(values.engines).map(([name, { license }]) => [name, license])
    expect(inChart).toEqual(licences)
    expect(values.exportedEngines).toEqual(exported)
    expect(values.config.defaultEngine).toBe(DEFAULT_ENGINE)
  })

  it('has every engine that scripts/export-engine exports', () => {
    const [, entries = ''] = /^ENGINES = \{(.*)\}$/m.exec(read('scripts/engines/__main__.py')) ?? []
    expect([...entries.matchAll(/"([^"]+)":/g)].map(([, name]) => name)).toEqual(exported)
  })

  it.each(exported)('matches the export of %s', (name) => {
    const manifest = JSON.parse(read(`test/fixtures/${name}/engine/engine.json`))
    const { kind, license, categories, garmentTypes } = engineFacts(name)
    expect(manifest).toMatchObject({ name, kind, license, accepts: { categories, garmentTypes } })
  })

  it.each(exported)('matches the export source of %s', (name) => {
    const folder = `scripts/engines/${name.replace('-', '_')}`
    const engine = read(`${folder}/engine.py`)
    const { kind, license, categories } = engineFacts(name)
    const [, spdx, isCommercial] = /"license": \{"spdx": "(.+)", "commercial": (True|False)\}/.exec(engine) ?? []
    const [, listed = ''] =
      /(?:"categories": \[|^CATEGORIES = \()(.+)[\])]/m.exec(`${engine}${read(`${folder}/configuration.py`)}`) ?? []
    expect({ spdx, commercial: isCommercial === 'True' }).toEqual(license)
    expect([...listed.matchAll(/"([^"]+)"/g)].map(([, category]) => category)).toEqual(categories)
    expect(engine).toContain(`"kind": "${kind}"`)
  })

  it('matches the table of docs/api.md', () => {
    const rows = Object.entries(ENGINE_CATALOGUE).map(
      ([name, { kind, license, categories, garmentTypes, credits }]) => {
        const licence = `${license.spdx}${license.commercial ? '' : ', not for commercial use'}`
        const title = exported.includes(name) ? `[\`${name}\`](engines/${name}.md)` : `\`${name}\``
        const accepted = [listOf(categories, CATEGORIES), listOf(garmentTypes, GARMENT_TYPES)]
        return `| ${[title, kind, licence, ...accepted, credits].join(' | ')} |`
      },
    )
    const header = '| Engine | Kind | Licence | Categories | Garment types | Credits |\n|---|---|---|---|---|---|'
    expect(read('docs/api.md')).toContain(`\n${[header, ...rows].join('\n')}\n\n`)
  })
})

function licenceOf(name: string): object {
  const { license } = engineFacts(name)
  return { name: license?.spdx, commercialUse: license?.commercial }
}

function listOf(names: readonly string[], all: readonly string[]): string {
  return names.length === all.length ? 'all' : names.map((name) => `\`${name}\``).join(', ')
}
