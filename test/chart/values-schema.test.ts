import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { readYaml } from '../../controller/runtime/yaml.ts'
import { schemaOfDefinition } from '../../scripts/charts/definition-schema.ts'
import { ROOT } from '../../scripts/stack/session.ts'

type Tree = { [name: string]: unknown }

const CHART = join(ROOT, 'charts/drape')
const SCHEMA = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'))
const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(SCHEMA)
const defaults = readValuesOf('values.yaml')
const RESOURCES = ['api', 'controller', 'postgres', 'redis'].map((owner) => `${owner}.resources`)
const OTHER_NAMES = Object.keys(readValuesOf('files/other-names.yaml')).map((name) => name.replaceAll('.', '\\.'))
const TYPE_OF_KUBERNETES = 'a type of Kubernetes, which the chart passes on and the API server checks'
/** Objects with fields that the schema does not know, by path, and why. */
const OPEN: readonly [RegExp, string][] = [
  [new RegExp(`^(${OTHER_NAMES.join('|')})$`), 'a name of other charts, which the templates refuse'],
  [/^(crds\.)?global$/, 'Helm passes the fields of other charts, too'],
  [/^extraObjects\[\]$/, 'objects of any kind'],
  [/\.extra(Env|Volumes|VolumeMounts)\[\]$/, TYPE_OF_KUBERNETES],
  [/^tolerations\[\]$/, TYPE_OF_KUBERNETES],
  [/\.podSpec$/, TYPE_OF_KUBERNETES],
  [/^networkPolicy\.(apiFrom|dashboardFrom|metricsFrom|extraEgress)\[\]$/, TYPE_OF_KUBERNETES],
  [/^pools\.[*\w]+\.podTemplate\.spec$/, 'a patch of a pod, which the controller tries on the API server and reports'],
  [/^httpRoute\.parentRefs\[\]$/, 'a type of the Gateway API'],
  [/^metrics\.relabelings\[\]$/, 'a type of the Prometheus Operator'],
  [/^dashboards\.instanceSelector$/, 'a type of the Grafana Operator'],
]

describe('the schema of the values', () => {
  it.for(globSync(join(CHART, 'values-*.yaml')).map((path) => basename(path)))('takes %s', (name) => {
    expect(validate(merge(defaults, readValuesOf(name))), JSON.stringify(validate.errors)).toBe(true)
  })

  it.for([
    ['pools.cpu.scaling.bonds', { max: 3 }],
    ['pools.gpu.scaling.bounds.maximum', 3],
    ['pools.cpu.scaling.cost', { hourlyCap: 3, mod: 'Hard' }],
    ['pools.cpu.scaling.schedules', [{ name: 'night', start: '20:00', end: '06:00', maximum: 1 }]],
    ['pools.cpu.drain.timeout', 60],
    ['pools.gpu.accelerator.resources', 'nvidia.com/gpu'],
    ['pools.cpu.capacity.hourlycost', 1],
    ['pools.cpu.tolerations', [{ keey: 'example.com/gpu', operator: 'Exists' }]],
    ['pools.gpu.extraEnv', [{ name: 'TOKEN', secret: { name: 'tokens', keey: 'a' } }]],
    ['pools.cpu.extraVolumes', [{ name: 'files', mountPath: '/files', readonly: true, claim: 'files' }]],
    ['pools.a100.scaling.bonds', { max: 3 }],
    ['pools.a100.accelerator.resources', 'nvidia.com/gpu'],
    ['pools.a100.likes', 'gpu'],
    ['pools.cpu.like', 'gpu'],
    ['engines.warp.licence', { name: 'Apache-2.0' }],
    ['engines.warp.license.acknowledge', true],
    ...RESOURCES.map((path) => [`${path}.limit`, { memory: '1Gi' }] as const),
    ['retentionPolicies.expired.ttl', 60],
    ['retentionPolicies.expired.selector', { kind: ['person'] }],
  ] as const)('refuses the misspelled %s', ([path, value]) => {
    expect(validate(withValue(path, value))).toBe(false)
    expect(validate.errors).toContainEqual(expect.objectContaining({ keyword: 'additionalProperties' }))
  })

  it('has the same fields for every pool, and accepts any valid object name', () => {
    const { properties, additionalProperties } = SCHEMA.properties.pools
    const fieldsOf = (pool: { properties: object }) => Object.keys(pool.properties).sort()
    expect(fieldsOf(additionalProperties)).toEqual([...fieldsOf(properties.cpu), 'like'].sort())
    expect(validate(withValue('pools.a100', { like: 'gpu', priority: 3 })), JSON.stringify(validate.errors)).toBe(true)
    for (const [name, value] of [
      ['A100', {}],
      ['a_1', {}],
      ['-a', {}],
      ['a'.repeat(47), {}],
      ['a100', { like: 3 }],
    ])
      expect(validate(withValue(`pools.${name}`, value)), String(name)).toBe(false)
  })

  it('accepts the same fields with their correct names', () => {
    expect(validate(withValue('pools.cpu.scaling.bounds.max', 3)), JSON.stringify(validate.errors)).toBe(true)
    expect(validate(withValue('pools.cpu.requests', { cpu: 1, memory: '1Gi', 'example.com/gpu': '1' }))).toBe(true)
    expect(validate(withValue('engines.mock', null))).toBe(true)
  })

  it('closes every object, or has a reason not to', () => {
    const open = openObjectsOf(SCHEMA)
    expect(open.filter((path) => !OPEN.some(([known]) => known.test(path)))).toEqual([])
    expect(OPEN.filter(([known]) => !open.some((path) => known.test(path)))).toEqual([])
    expect(
      openObjectsOf({ properties: { a: { type: ['object', 'null'] }, b: { items: { properties: {} } } } }),
    ).toEqual([...['', 'a', 'b[]']])
  })

  it('refers only to existing definitions', () => {
    expect(() => schemaOfDefinition('WorkerPool.drian')).toThrow('WorkerPool.drian is not a field')
    expect(() => schemaOfDefinition('Pool')).toThrow('Pool is not a kind')
  })
})

/** Paths of objects that take any field. An object whose values have a schema is a map with names of the operator's choice. */
function openObjectsOf(schema: Tree, path = ''): string[] {
  const { type, properties = {}, additionalProperties, items } = schema
  const isObject = [type].flat().includes('object') || 'properties' in schema
  const values = isTree(additionalProperties) ? { '*': additionalProperties } : {}
  const inner = Object.entries({ ...(properties as Tree), ...values })
  return [
    ...(isObject && additionalProperties !== false && !isTree(additionalProperties) ? [path] : []),
    ...inner.flatMap(([name, value]) => openObjectsOf(value as Tree, path === '' ? name : `${path}.${name}`)),
    ...(isTree(items) ? openObjectsOf(items, `${path}[]`) : []),
  ]
}

function readValuesOf(name: string): Tree {
  return readYaml(readFileSync(join(CHART, name), 'utf8'))[0] as Tree
}

function withValue(path: string, value: unknown): Tree {
  const names = path.split('.')
  return merge(defaults, names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Tree)
}

/** As Helm merges values. */
function merge(base: Tree, over: Tree): Tree {
  const merged = Object.entries(over).map(([name, value]) => {
    const both = isTree(base[name]) && isTree(value)
    return [name, both ? merge(base[name] as Tree, value) : value]
  })
  return { ...base, ...Object.fromEntries(merged) }
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
