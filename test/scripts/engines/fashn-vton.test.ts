import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { InferenceSession } from 'onnxruntime-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines } from '../../../controller/engine/resource.ts'
import { readYaml } from '../../../controller/runtime/yaml.ts'
import { DEFAULT_CONFORMANCE } from '../../../worker/engines/conformance.ts'
import { findInstalled } from '../../../worker/engines/installed.ts'
import { openModels, readManifest } from '../../../worker/inference/models.ts'
import { commandsOf, runCommands } from '../../support/documented-blocks.ts'
import { exportEngine, findEnginePython, runPython, startExports } from '../../support/export-engine.ts'
import { fingerprintFiles } from '../../support/fingerprints.ts'
import { spawnProcess } from '../../support/process.ts'
import { changeFirst, changeHeader, cutToBfloat16, dropLast } from '../../support/safetensors.ts'
import { until } from '../../support/until.ts'

const FIXTURES = resolve(import.meta.dirname, '../../fixtures/fashn-vton')
const { python, reason } = await findEnginePython()

describe.skipIf(reason)(`exporting FASHN VTON${reason && ` (skipped: ${reason})`}`, () => {
  let folder: string
  let exports: ReturnType<typeof startExports>
  const at = (name: string) => join(folder, name)
  const tensors = (name: string) => join(FIXTURES, `${name}.state.safetensors`)
  const exportTo = (name: string, ...args: string[]) => exports.run(['fashn-vton', '--output', at(name), ...args])

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-engines-'))
    exports = startExports(python)
    for (const [name, precision] of [
      ['tiny', 'fp32'],
      ['tiny2', 'fp32'],
      ['tiny', 'fp16'],
      ['tiny2', 'fp16'],
    ] as const) {
      const golden = name === 'tiny' && precision === 'fp32' ? [] : ['--no-golden']
      const done = await exportTo(
        `${name}-${precision}`,
        '--weights',
        tensors(name),
        '--precision',
        precision,
        ...golden,
      )
      expect(done).toEqual({ code: 0, errors: '' })
    }
    expect(await exportTo('random', '--random')).toEqual({ code: 0, errors: '' })
  })
  afterAll(() => {
    exports?.stop()
    return rm(folder, { recursive: true, force: true })
  })

  it('matches the published stages and sampler to 1e-5 in 32 bits', async () => {
    const errors = await compare('fp32')
    expect(Object.keys(errors)).toEqual(['full', 'tiny', 'tiny2', 'sampler'])
    expect(Object.keys(errors.tiny)).toHaveLength(17)
    for (const [stage, error] of allStages(errors)) expect(error, stage).toBeLessThanOrEqual(1e-5)
  })

  it('matches the published sampler to 2e-3 in 16 bits', async () => {
    const { 'share of bytes that differ': bytes, ...sampler } = (await compare('fp16')).sampler
    for (const [stage, error] of Object.entries(sampler)) expect(error, stage).toBeLessThanOrEqual(2e-3)
    expect(bytes).toBeLessThan(0.1)
  })

  it('changes precision in 16 bits only at the ends of a step, and shares no constant of the device', async () => {
    const program = `import json, onnx; from collections import Counter
graph = onnx.load("${at('tiny-fp16/denoise.onnx')}", load_external_data=False).graph
step = next(node for node in graph.node if node.op_type == "Scan").attribute[0].g.node
places = {node.input[1] for node in step if node.op_type == "RotaryEmbedding"}
shared = [node.op_type for node in step if node.op_type != "RotaryEmbedding" and places & {*node.input}]
print(json.dumps([Counter(node.op_type for node in step), shared]))`
    const [counts, shared] = JSON.parse(await runPython(python, ['-c', program]))
    // The sample, the modulation and the velocity.
    expect(counts).toMatchObject({ Cast: 3, LayerNormalization: 7, Mul: 7 })
    expect(shared).toEqual([])
  })

  it('reproduces the engine in the fixtures of the worker tests, byte for byte', async () => {
    await expectSameEngine(at('tiny-fp32'), join(FIXTURES, 'engine'))
  })

  it('includes DWPose graphs, non-commercial unless a license is given', async () => {
    const pose = resolve(FIXTURES, '../dwpose')
    const given = [
      ...['--random', '--no-golden', '--pose-detector', join(pose, 'pose-detector.onnx')],
      ...['--pose-keypoints', join(pose, 'pose-keypoints.onnx')],
    ]
    expect(await exportTo('pose/fashn-vton', ...given)).toEqual({
      code: 1,
      errors: expect.stringContaining('pose is not'),
    })
    await mkdir(at('pose'))
    expect(await exportTo('pose/fashn-vton', ...given)).toEqual({ code: 0, errors: '' })
    const factory = (await findInstalled(['fashn-vton'], at('pose'))).get('fashn-vton')
    const license = { spdx: 'LicenseRef-DWPose', commercial: false }
    expect(factory?.manifest.auxiliary).toEqual([{ name: 'dwpose', license }])
    const engine = await factory?.create({
      models: { session: () => expect.unreachable(), has: () => false, release: async () => {} },
      provider: 'cpu',
      isAlone: true,
      conformance: DEFAULT_CONFORMANCE,
    })
    await engine?.release?.()
    expect(await readFile(at('pose/fashn-vton/kubernetes.yaml'), 'utf8')).toContain(
      'license: { name: Apache-2.0 AND LicenseRef-DWPose, commercialUse: false }',
    )
    expect(await exportTo('licensed', ...given, '--pose-license', 'Apache-2.0')).toEqual({ code: 0, errors: '' })
    expect(await readFile(at('licensed/kubernetes.yaml'), 'utf8')).toContain(
      '{ name: Apache-2.0, commercialUse: true }',
    )
  })

  it('reads the published files, as documented', async () => {
    const page = 'docs/engines/fashn-vton.md'
    const pose = resolve(FIXTURES, '../dwpose')
    await mkdir(at('files'))
    await copyFile(tensors('tiny'), at('files/model.safetensors'))
    await copyFile(join(pose, 'pose-detector.onnx'), at('files/yolox_l.onnx'))
    await copyFile(join(pose, 'pose-keypoints.onnx'), at('files/dw-ll_ucoco_384.onnx'))
    const local = { '--download': '--weights model.safetensors' }
    await runCommands(commandsOf(page, '1. Export the weights'), { folder: at('files'), placeholders: local })
    const { 'engine.json': _golden, 'kubernetes.yaml': _listed, ...graphs } = await fingerprintFiles(at('tiny-fp16'))
    expect(await fingerprintFiles(at('files/fashn-vton'))).toMatchObject(graphs)
    const placeholders = { '--output fashn-vton': '--output with-pose' }
    await runCommands(commandsOf(page, 'Optional: DWPose'), { folder: at('files'), placeholders })
    expect((await readJson(at('files/with-pose/engine.json'))).auxiliary).toMatchObject([{ name: 'dwpose' }])
  })

  it.each([
    ['one of the two', ['--pose-detector', 'pose-detector.onnx'], 'give both --pose-detector and --pose-keypoints'],
    [
      'another graph',
      ['--pose-detector', 'pose-keypoints.onnx', '--pose-keypoints', 'pose-keypoints.onnx'],
      'a YOLOX detector',
    ],
    [
      'what is no graph',
      ['--pose-detector', 'SOURCES.md', '--pose-keypoints', 'pose-keypoints.onnx'],
      'as an ONNX graph',
    ],
  ])('rejects %s as DWPose, and leaves no output', async (_what, options, message) => {
    const paths = options.map((option) => (option.startsWith('--') ? option : resolve(FIXTURES, '../dwpose', option)))
    const { code, errors } = await exportTo('no-pose', '--random', '--no-golden', ...paths)
    expect(errors).toContain(message)
    expect(code).toBe(1)
    await expect(stat(at('no-pose'))).rejects.toThrow('ENOENT')
  })

  it('defines the names and shapes of the published weights', async () => {
    const program =
      'import json; from engines.fashn_vton.configuration import *; print(json.dumps(tensor_shapes(Configuration())))'
    const { patch_mixer_token: _unused, ...published } = await readJson(join(FIXTURES, 'full-shapes.json'))
    expect(JSON.parse(await runPython(python, ['-c', program]))).toEqual(published)
  })

  it('states the memory that was counted on a stub of CUDA, with an allowance for the context', async () => {
    const program =
      'from engines.fashn_vton.engine import Configuration, memory_mib; print([memory_mib(Configuration(), half=half) for half in (True, False)])'
    const [half, single] = JSON.parse(await runPython(python, ['-c', program]))
    const counted = 3646
    expect(half).toBeGreaterThan(counted + 500)
    expect(half).toBeLessThan(1.25 * counted)
    expect(single).toBeGreaterThan(half + 1800)
  })

  it('reads bfloat16 weights', async () => {
    const { wide, narrow } = cutToBfloat16(await readFile(tensors('tiny')))
    for (const [name, bytes] of Object.entries({ wide, narrow })) {
      await writeFile(at(`${name}.safetensors`), bytes)
      const done = await exportTo(name, '--weights', at(`${name}.safetensors`), '--precision', 'fp32', '--no-golden')
      expect(done).toEqual({ code: 0, errors: '' })
    }
    const { 'engine.json': _names, 'kubernetes.yaml': _listed, ...graphs } = await fingerprintFiles(at('narrow'))
    expect(await fingerprintFiles(at('wide'))).toMatchObject(graphs)
  })

  it('writes identical bytes for equal seeds and different bytes for different seeds', async () => {
    await exportTo('again', '--random', '--size', 'tiny', '--seed', '1')
    await exportTo('other', '--random', '--seed', '2')
    const first = await fingerprintFiles(at('random'))
    expect(await fingerprintFiles(at('again'))).toEqual(first)
    const other = await fingerprintFiles(at('other'))
    for (const file of ['transformer.weights', 'modulation.weights', 'person.onnx', 'garment.onnx'])
      expect(other[file], file).not.toEqual(first[file])
  })

  it('lists every file with its size and SHA-256', async () => {
    const { files } = await readJson(at('random/engine.json'))
    const { 'engine.json': _itself, 'kubernetes.yaml': _resource, ...listed } = await fingerprintFiles(at('random'))
    expect(files).toEqual(Object.entries(listed).map(([path, print]) => ({ path, ...print })))
  })

  it('describes inputs and outputs of each graph as ONNX Runtime reads them', async () => {
    const { models } = await readJson(at('random/engine.json'))
    expect(models).toHaveLength(5)
    for (const { file, inputs, outputs } of models) {
      const session = await InferenceSession.create(join(at('random'), file))
      const read = (side: readonly InferenceSession.ValueMetadata[]) =>
        side.map((tensor) => tensor.isTensor && { name: tensor.name, shape: tensor.shape, type: tensor.type })
      const asFloats = (side: readonly object[]) => side.map((tensor) => ({ ...tensor, type: 'float32' }))
      expect(read(session.inputMetadata)).toEqual(asFloats(inputs))
      expect(read(session.outputMetadata)).toEqual(asFloats(outputs))
      await session.release()
    }
  })

  it('lists models in the manifest format of workers', async () => {
    await mkdir(at('listed'))
    for (const file of ['person.onnx', 'garment.onnx']) await copyFile(at(`random/${file}`), at(`listed/${file}`))
    await copyFile(at('random/engine.json'), at('listed/manifest.json'))
    expect((await readManifest(at('listed'))).map(({ name }) => name)).toEqual([
      'person',
      'garment',
      'modulation',
      'velocity',
      'denoise',
    ])
    const models = await openModels(at('listed'), { names: ['person', 'garment'] })
    const feeds = { person: greyImage(3), person_pose: greyImage(1) }
    const { person_tokens: tokens } = await models.session('person').run(feeds)
    expect(tokens?.shape).toEqual([1, 96, 64])
    expect(tokens?.data.every(Number.isFinite)).toBe(true)
    await models.release()
  })

  it('writes an Engine resource for Kubernetes', async () => {
    const [document] = readYaml(await readFile(at('random/kubernetes.yaml'), 'utf8'))
    const read = engines.read(document as never)
    if ('problems' in read) throw new Error(JSON.stringify(read.problems))
    const { 'kubernetes.yaml': _itself, ...listed } = await fingerprintFiles(at('random'))
    expect(read.object.spec.license).toMatchObject({ name: 'Apache-2.0', commercialUse: true })
    expect(Object.fromEntries(read.object.spec.files.map(({ path, ...print }) => [path, print]))).toEqual(listed)
  })

  describe('from an invalid file', () => {
    const bias = 'single_blocks.0.linear2.bias'
    let good: Buffer
    beforeAll(async () => {
      good = await readFile(tensors('tiny'))
    })

    it.each<[problem: string, message: string, change: (file: Buffer) => Buffer, precision?: string]>([
      ['that is truncated', 'cannot be read as a safetensors file', (file) => file.subarray(0, -1000)],
      ['that is empty', 'cannot be read as a safetensors file', () => Buffer.alloc(0)],
      ['without its last tensor', 'missing: y_embedder.weight', dropLast],
      [
        'with a tensor of another name',
        `not of this model: extra`,
        (file) => changeHeader(file, ({ [bias]: moved, ...rest }) => ({ ...rest, extra: moved as never })),
      ],
      [
        'with a tensor of another shape',
        `of another shape: ${bias} is 8×8, expected 64`,
        (file) => changeHeader(file, (all) => ({ ...all, [bias]: { ...all[bias], shape: [8, 8] } as never })),
      ],
      [
        'with a tensor of another type',
        `${bias} is I32`,
        (file) => changeHeader(file, (all) => ({ ...all, [bias]: { ...all[bias], dtype: 'I32' } as never })),
      ],
      ['with what is no number', `${bias} has a value that is infinite`, (file) => changeFirst(file, bias, Number.NaN)],
      ['with a number too large for 16 bits', `${bias}`, (file) => changeFirst(file, bias, 5_000_000), 'fp16'],
    ])('%s says so and leaves nothing', async (_problem, message, change, precision = 'fp32') => {
      const place = await mkdtemp(at('bad-'))
      await writeFile(join(place, 'model.safetensors'), change(good))
      const args = ['--weights', join(place, 'model.safetensors'), '--precision', precision]
      const { code, errors } = await exports.run(['fashn-vton', '--output', join(place, 'engine'), ...args])
      expect(errors).toContain(message)
      expect(errors).not.toContain('Traceback')
      expect(code).toBe(1)
      expect(await readdir(place)).toEqual(['model.safetensors'])
    })
  })

  it('does not overwrite an existing folder', async () => {
    await mkdir(at('mine'))
    await writeFile(at('mine/notes.txt'), 'mine')
    const { code, errors } = await exportTo('mine', '--random')
    expect([code, errors]).toEqual([1, expect.stringContaining('already exists')])
    expect(await readdir(at('mine'))).toEqual(['notes.txt'])
  })

  it('leaves no output when the disk is full', async () => {
    const place = await mkdtemp(at('full-'))
    // No file may be larger than 100 blocks of 512 or 1024 bytes.
    const args = ['fashn-vton', '--random', '--output', join(place, 'engine')]
    const { code, errors } = await exportEngine(args, { limit: 'ulimit -f 100' })
    expect([code, errors]).toEqual([1, expect.stringMatching(/engine cannot be written: .+/)])
    expect(await readdir(place)).toEqual([])
  })

  it('leaves no output when terminated', async () => {
    const place = await mkdtemp(at('ended-'))
    const args = ['fashn-vton', '--random', '--size', 'full', '--output', join(place, 'engine')]
    const command = resolve(import.meta.dirname, '../../../scripts/export-engine')
    const started = await spawnProcess({ command, args, cwd: place, env: process.env })
    await until(async () => (await readdir(place)).length > 0)
    expect(await started.end('SIGTERM')).toBe(143)
    expect(await readdir(place)).toEqual([])
  })

  it.each([
    [[], 'one of the arguments --download --weights --random is required'],
    [['--random', '--weights', 'model.safetensors'], '--weights: not allowed with argument --random'],
    [['--download', 'model.safetensors'], 'model.safetensors is not a web address'],
    [['--weights', '/nowhere/model.safetensors'], '/nowhere/model.safetensors cannot be read'],
  ])('rejects %j', async (args, message) => {
    const { code, errors } = await exportTo('refused', ...args)
    expect(errors).toContain(message)
    expect(code).not.toBe(0)
    await expect(stat(at('refused'))).rejects.toThrow('ENOENT')
  })

  async function compare(precision: string): Promise<Record<string, Record<string, number>>> {
    const program = resolve(import.meta.dirname, 'fashn_vton_parity.py')
    return JSON.parse(await runPython(python, [program, FIXTURES, at(`tiny-${precision}`), at(`tiny2-${precision}`)]))
  }
})

function allStages(errors: Readonly<Record<string, Readonly<Record<string, number>>>>): [string, number][] {
  return Object.entries(errors).flatMap(([name, stages]) =>
    Object.entries(stages).map(([stage, error]): [string, number] => [`${name} ${stage}`, error]),
  )
}

/** A grey image on the canvas of tiny engines, which are 96 wide. */
function greyImage(channels: number) {
  return { shape: [1, channels, 144, 96], data: new Float32Array(channels * 144 * 96) }
}

async function readJson(path: string) {
  return JSON.parse(await readFile(path, 'utf8'))
}

/** Expects byte-identical files except for computed numbers, because processors round differently. */
async function expectSameEngine(found: string, wanted: string): Promise<void> {
  const { 'engine.json': _, 'kubernetes.yaml': __, ...graphs } = await fingerprintFiles(wanted)
  expect(await fingerprintFiles(found)).toMatchObject(graphs)
  const [{ golden, ...manifest }, reference] = await Promise.all(
    [found, wanted].map((folder) => readJson(join(folder, 'engine.json'))),
  )
  expect({ ...manifest, golden: reference.golden }).toEqual(reference)
  expect(golden).toHaveLength(256)
  for (const [i, value] of golden.entries()) expect(Math.abs(value - reference.golden[i]), `${i}`).toBeLessThan(1e-4)
}
