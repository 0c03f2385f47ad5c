import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findingsOf } from '../../../controller/engine/findings.ts'
import { engines } from '../../../controller/engine/resource.ts'
import type { KubernetesObject } from '../../../controller/runtime/resource.ts'
import { readYaml } from '../../../controller/runtime/yaml.ts'
import { findInstalled } from '../../../worker/engines/installed.ts'
import { createEngines } from '../../../worker/engines/registry.ts'
import { commandsOf, runCommands } from '../../support/documented-blocks.ts'
import { exportEngine, findEnginePython, runPython } from '../../support/export-engine.ts'
import { fingerprintFiles } from '../../support/fingerprints.ts'
import { expectSameEngine } from '../../support/same-engine.ts'

const REFERENCE = resolve(import.meta.dirname, '../../fixtures/catvton/reference.safetensors')
const { python, reason } = await findEnginePython()

describe.skipIf(reason)(`exporting CatVTON${reason && ` (skipped: ${reason})`}`, () => {
  let folder: string
  const at = (name: string) => join(folder, name)
  const published = (name: string, changed: Readonly<Record<string, string>> = {}) => {
    const sources = { unet: at('files/unet.safetensors'), attention: at('files/attention.safetensors'), ...changed }
    const files = { ...sources, vae: at('files/vae.safetensors') }
    const args = Object.entries(files).flatMap(([option, path]) => [`--${option}`, path])
    return exportEngine(['catvton', '--precision', 'fp32', '--no-golden', '--output', at(name), ...args])
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-engines-'))
    for (const precision of ['fp32', 'fp16']) {
      const args = ['catvton', '--random', '--precision', precision, '--output', at(precision)]
      expect(await exportEngine(args)).toEqual({ code: 0, errors: '' })
    }
    await mkdir(at('files'))
    await runPython(python, [resolve(import.meta.dirname, 'catvton_files.py'), at('files')])
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it.each([
    ['32', 'fp32', 1e-5],
    ['16', 'fp16', 1e-2],
  ])('matches the diffusers library in all three graphs, in %s bits', async (_bits, precision, limit) => {
    const errors = await compare(precision)
    expect(Object.keys(errors)).toHaveLength(10)
    for (const [stage, error] of Object.entries(errors)) expect(error, stage).toBeLessThanOrEqual(limit)
  })

  it('reproduces the engine in the fixtures of the worker tests', () =>
    expectSameEngine(at('fp32'), resolve(import.meta.dirname, '../../fixtures/catvton/engine')))

  it('reads the published files, as documented', async () => {
    const placeholders = { '--output catvton': `--precision fp32 --no-golden --output ${at('published')}` }
    await runCommands(commandsOf('docs/engines/catvton.md', '2. Export'), { folder: at('files'), placeholders })
    const random = await fingerprintFiles(at('fp32'))
    const read = await fingerprintFiles(at('published'))
    for (const graph of ['encoder', 'denoiser', 'decoder']) {
      expect(read[`${graph}.onnx`], graph).toEqual(random[`${graph}.onnx`])
      expect(read[`${graph}.weights`], graph).toEqual(random[`${graph}.weights`])
    }
  })

  it('names the file with wrong weights, and leaves no output', async () => {
    const { code, errors } = await published('wrong', { attention: at('files/vae.safetensors') })
    expect(errors).toContain('vae.safetensors does not contain the weights of this engine')
    expect(errors).toContain('missing: down_blocks.0')
    expect(code).toBe(1)
    await expect(stat(at('wrong'))).rejects.toThrow('ENOENT')
    expect((await readdir(folder)).filter((name) => name.includes('partial'))).toEqual([])
  })

  it('requires all files', async () => {
    const args = ['catvton', '--unet', at('files/unet.safetensors'), '--output', at('part')]
    expect(await exportEngine(args)).toEqual({ code: 2, errors: expect.stringContaining('--attention is missing') })
  })

  it('includes a parser, and then accepts garments worn by a model', async () => {
    const parser = resolve(import.meta.dirname, '../../fixtures/parser/parser.onnx')
    await mkdir(at('parsed'))
    const args = ['--random', '--no-golden', '--parser', parser, '--output', at('parsed/catvton')]
    expect(await exportEngine(['catvton', ...args])).toEqual({ code: 0, errors: '' })
    const manifest = (await findInstalled(['catvton'], at('parsed'))).get('catvton')?.manifest
    const license = { spdx: 'LicenseRef-NVIDIA-SegFormer', commercial: false }
    expect(manifest).toMatchObject({
      accepts: { garmentTypes: ['flat_lay', 'ghost_mannequin', 'on_model'] },
      auxiliary: [{ name: 'human-parser', license }],
    })
    const resource = await readFile(at('parsed/catvton/kubernetes.yaml'), 'utf8')
    expect(resource).toContain('garmentTypes: [flat_lay, ghost_mannequin, on_model]')
    expect(resource).toContain('CC-BY-NC-SA-4.0 AND LicenseRef-NVIDIA-SegFormer, commercialUse: false')
  })

  it('forbids commercial use: a worker starts the engine only when acknowledged', async () => {
    const manifest = JSON.parse(await readFile(at('fp16/engine.json'), 'utf8'))
    const engine = { manifest, run: () => Promise.reject(new Error('not run here')) }
    const known = new Map([['catvton', { manifest, create: () => engine }]])
    const models = { session: () => expect.unreachable(), has: () => false, release: async () => {} }
    await expect(createEngines(['catvton'], { models, known })).rejects.toThrow(
      'CC-BY-NC-SA-4.0, which forbids commercial use',
    )
    const made = await createEngines(['catvton'], { models, known, acknowledged: ['catvton'] })
    expect(made.get('catvton')).toBe(engine)
  })

  it('forbids commercial use: a cluster uses the engine only when acknowledged', async () => {
    const before = await readFile(at('fp16/kubernetes.yaml'), 'utf8')
    expect(verdictOn(before)).toEqual({ phase: 'Pending', licensed: 'NotAcknowledged', ready: 'NotLicensed' })
    await mkdir(at('applied/catvton'), { recursive: true })
    await copyFile(at('fp16/kubernetes.yaml'), at('applied/catvton/kubernetes.yaml'))
    const commands = commandsOf('docs/engines/catvton.md', '3. Acknowledge the licence and run the engine')
    const applied = await runCommands(commands, { folder: at('applied'), placeholders: { 'kubectl apply -f': 'cat' } })
    expect(verdictOn(applied)).toEqual({ phase: 'Pending', licensed: 'Acknowledged', ready: 'Usable' })
  })

  async function compare(precision: string): Promise<Record<string, number>> {
    const program = resolve(import.meta.dirname, 'catvton_parity.py')
    return JSON.parse(await runPython(python, [program, REFERENCE, at(precision)]))
  }
})

/** What the controller says of this Engine when it is applied. */
function verdictOn(text: string) {
  const [object] = readYaml(text) as KubernetesObject[]
  const metadata = { ...object.metadata, namespace: 'shop', uid: '1', generation: 1 }
  const read = engines.read({ ...object, metadata })
  if ('problems' in read) throw new Error(read.problems)
  const checks = { passed: 0, problem: null, proven: 0 }
  const unknown = { prefetch: null, prefetchProblem: null, refusal: null }
  const { phase, findings } = findingsOf({ engine: read.object, checks, ...unknown })
  const reason = (type: string) => findings.find((finding) => finding.type === type)?.reason
  return { phase, licensed: reason('Licensed'), ready: reason('Ready') }
}
