import { describe, expect, it } from 'vitest'
import type { EngineManifest } from '../../../worker/engines/engine.ts'
import { createMockEngine, MOCK_MANIFEST } from '../../../worker/engines/mock.ts'
import { createEngines, ENGINES, type EngineFactory } from '../../../worker/engines/registry.ts'

const models = {
  session: () => {
    throw new Error('no model is needed to make an engine')
  },
  has: () => false,
  release: async () => {},
}

const restricted: EngineManifest = {
  ...MOCK_MANIFEST,
  name: 'restricted',
  license: { spdx: 'CC-BY-NC-SA-4.0', commercial: false },
}
const known: ReadonlyMap<string, EngineFactory> = new Map([
  ...ENGINES,
  ['restricted', { manifest: restricted, create: createMockEngine }],
])

describe('the registry of engines', () => {
  it('creates the requested engines by name', async () => {
    const engines = await createEngines(['mock', 'warp'], { models })
    expect([...engines.keys()]).toEqual(['mock', 'warp'])
    for (const [name, engine] of engines) expect(engine.manifest.name).toBe(name)
  })

  it('names an unknown engine', async () => {
    await expect(createEngines(['warp', 'wrap'], { models })).rejects.toThrow('Unknown engine "wrap"')
  })

  it('creates an engine with a non-commercial license only when acknowledged', async () => {
    await expect(createEngines(['restricted'], { models, known })).rejects.toThrow('CC-BY-NC-SA-4.0')
    const engines = await createEngines(['restricted'], { models, known, acknowledged: ['restricted'] })
    expect(engines.has('restricted')).toBe(true)
  })
})
