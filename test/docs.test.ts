import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CUSTOM_RESOURCES } from '../controller/definitions/custom-resources.ts'
import type { KubernetesObject } from '../controller/runtime/resource.ts'
import { readYaml } from '../controller/runtime/yaml.ts'
import { blocksOf } from './support/documented-blocks.ts'

const ROOT = resolve(import.meta.dirname, '..')
const PAGES = globSync('docs/**/*.md', { cwd: ROOT }).sort()

describe('the pages under docs/', () => {
  const pages = PAGES.map((path) => ({ path, text: readFileSync(resolve(ROOT, path), 'utf8') }))

  it.each(pages)('$path shows resources that the controller reads', ({ text }) => {
    for (const object of [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].flatMap(([, block = '']) => readYaml(block))) {
      const { kind, metadata } = object as KubernetesObject & { kind: string }
      const resource = CUSTOM_RESOURCES.find(({ type }) => type.kind === kind)
      expect(resource, kind).toBeDefined()
      const stored = { ...(object as object), metadata: { ...metadata, namespace: 'shop', uid: '1', generation: 1 } }
      expect(resource?.read(stored as KubernetesObject)).not.toHaveProperty('problems')
    }
  })

  it.each(pages)('$path names only existing files', ({ text }) => {
    const named = [...text.matchAll(/(?<![\w/])((?:scripts|test|crds|docs|worker)\/[\w./-]+)/g)].map(
      ([, path = '']) => path,
    )
    expect(named.filter((path) => globSync(path.replace(/\.$/, ''), { cwd: ROOT }).length === 0)).toEqual([])
  })
})

describe('the commands of the pages', () => {
  it('write only files that git ignores', () => {
    const ignored = readFileSync(resolve(ROOT, '.gitignore'), 'utf8').split('\n')
    const blocks = PAGES.flatMap((page) => blocksOf(page)).filter(({ language }) => language === 'sh')
    const written = blocks.flatMap(({ text }) =>
      [...text.matchAll(/(?: -o| >) ([\w-]+\.\w+)/g)].map(([, name]) => name),
    )
    expect(written).toContain('result.jpg')
    expect(written.filter((name) => !ignored.includes(`/${name}`))).toEqual([])
  })
})

describe('the page for contributors', () => {
  const text = readFileSync(resolve(ROOT, 'docs/contributing.md'), 'utf8')

  it('names only existing files and folders', () => {
    const named = [...text.matchAll(/\b((?:api|charts|controller|docs|scripts|test|worker)\/[\w./*-]+)/g)].map(
      ([, path = '']) => path,
    )
    expect(named.filter((path) => globSync(path.replace(/\.$/, ''), { cwd: ROOT }).length === 0)).toEqual([])
  })
})

describe('the page about the configuration', () => {
  const CONFIGURATIONS = [
    'api/config.ts',
    'api/shared/process/config.ts',
    'api/secrets/read-keys.ts',
    'worker/job/config.ts',
    'controller/{config,local}.ts',
  ]
  const pages = PAGES.map((path) => readFileSync(resolve(ROOT, path), 'utf8')).join('\n')

  it.each(globSync(CONFIGURATIONS, { cwd: ROOT }).sort())('and its neighbours name every variable of %s', (path) => {
    const source = readFileSync(resolve(ROOT, path), 'utf8')
    const names = [...source.matchAll(/^ +([A-Z][A-Z0-9_]+): (?:Type|SHARED_VARIABLES)\./gm)].map(
      ([, name = '']) => name,
    )
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(pages))).toEqual([])
  })
})

describe('the links of every page', () => {
  const pages = globSync(['*.md', '{api,charts,clients,crds,docs,scripts,worker}/**/*.md'], { cwd: ROOT }).sort()

  it.each(pages)('lead to existing files, in %s', (path) => {
    const text = readFileSync(resolve(ROOT, path), 'utf8')
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
    // A path from the root is one of the running service: test/api/guide/guide.test.ts knows those.
    const near = targets
      .filter((target) => !/^(https?:|#|mailto:|\/)/.test(target))
      .map((target) => target.split('#')[0])
    expect(near.filter((target) => !existsSync(resolve(ROOT, dirname(path), target)))).toEqual([])
  })
})
