import { describe, expect, it } from 'vitest'
import { readYaml, writeYaml } from '../../../controller/runtime/yaml.ts'

describe('YAML', () => {
  it('keeps every field of a kind, known or not', () => {
    const object = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'a.b' },
      spec: {
        schema: { type: 'integer', default: 0, 'x-kubernetes-validations': [{ rule: 'self > 0', message: 'a: b' }] },
      },
    }
    expect(readYaml(writeYaml(object))).toEqual([object])
  })

  it('reads several documents and skips empty ones', () => {
    expect(readYaml('# nothing\n---\na: |\n  two\n  lines\n---\nb: [1, "x"]\n')).toEqual([
      { a: 'two\nlines\n' },
      { b: [1, 'x'] },
    ])
  })

  it('throws on what is no YAML', () => {
    expect(() => readYaml('a: [1')).toThrow()
  })
})
