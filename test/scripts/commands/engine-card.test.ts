import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { outputOf } from '../../support/command-line.ts'
import { copyTinyEngine } from '../../support/tiny-engine.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const card = async (name: string, env: NodeJS.ProcessEnv = {}) =>
  JSON.parse(await outputOf(['engine', 'card', '--json', name], { ...process.env, ...env }))

describe('drape engine card', () => {
  it('shows license, file hashes, cost per image and quality', async () => {
    const { license, files, secondsPerImage, memoryMiB, quality } = await card('warp')
    expect(license).toEqual({ spdx: 'Apache-2.0', commercial: true })
    for (const { name, sha256, bytes } of files) {
      const file = await readFile(join(ROOT, 'worker/models', `${name}.onnx`))
      expect([file.length, createHash('sha256').update(file).digest('hex')]).toEqual([bytes, sha256])
    }
    expect(files.length).toBeGreaterThan(1)
    expect(secondsPerImage).toBeGreaterThan(0)
    expect(memoryMiB).toBeGreaterThan(50)
    expect(quality.measured).toMatch(/^\d{4}-\d\d-\d\d$/)
    expect(quality.figures.landmarks.mean).toBeLessThan(4)
    expect(quality.figures.covered.mean).toBeGreaterThan(0.97)
  })

  it('shows an installed engine with its own files', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'drape-card-'))
    await copyTinyEngine(join(folder, 'fashn-vton'))
    const printed = await card('fashn-vton', { ENGINE_DIR: folder })
    expect(printed).toMatchObject({ engine: 'fashn-vton 1.5.0', kind: 'photo', provider: 'cpu', quality: null })
    expect(printed.files.map(({ path }: { path?: string }) => path)).toContain('transformer.weights')
    expect(printed.operators).toEqual({ cpu: expect.any(Number) })
    expect(printed.minMemoryMiB).toBeGreaterThan(768)
    expect(printed.secondsPerImage).toBeGreaterThan(0)
    await rm(folder, { recursive: true, force: true })
  })

  it('shows no quality for a test engine', async () => {
    expect(await card('mock')).toMatchObject({ kind: 'test', files: [], quality: null })
  })

  it('rejects an unknown engine and lists the known engines', async () => {
    await expect(card('magic')).rejects.toThrow(/name one of warp, mock/)
  })
})
