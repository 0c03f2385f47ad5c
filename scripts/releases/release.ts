import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CHARTS } from '../charts/build.ts'
import type { Builder, Target } from '../container/build.ts'
import { ROOT } from '../stack/session.ts'
import { type Base, pinBases } from './bases.ts'
import { writeChart } from './chart-artifact.ts'
import { buildForAll, writeSboms } from './images.ts'
import { describeProvenance } from './provenance.ts'
import { type Artifact, checkPublished, publish } from './publish.ts'
import { openRegistry } from './registry.ts'
import { createSigner } from './signer.ts'
import { readSource, type Source } from './source.ts'
import { findReleaseTool } from './tools.ts'

export interface ReleaseOptions {
  /** Prefix of all names, such as registry.example/drape. */
  readonly prefix: string
  readonly targets: readonly Target[]
  readonly builder: Builder
  /** Folder for everything that is published; emptied first. */
  readonly output: string
  /** Builds the images a second time without cache and compares the digests. */
  readonly verify: boolean
  /** Publishes nothing. */
  readonly isDryRun: boolean
  readonly key?: string
  readonly isLogged: boolean
  /** Lets the Containerfile's base images be others: BASE and PYTHON. Names the builder and the run, too. */
  readonly env: NodeJS.ProcessEnv
  readonly say: (text: string) => void
}

/** Builds and publishes the version of the clone; returns its artifacts, the chart drape last. @throws Error if a check fails. */
export async function release(options: ReleaseOptions): Promise<readonly Artifact[]> {
  const { targets, output, isDryRun, env, say } = options
  const startedAt = new Date()
  const source = await readSource(ROOT, startedAt)
  const registry = openRegistry(await findReleaseTool('crane'))
  const bases = await pinBases(targets, { root: ROOT, registry, env })
  await rm(output, { recursive: true, force: true })
  await mkdir(output, { recursive: true })
  const charts = await makeCharts(options)
  // Images can be checked only after they are built: a conflict of the charts is found before the builds.
  await checkPublished({ version: source.version, artifacts: charts, provenance: '' }, registry)
  const images = await makeImages(source, { ...options, bases })
  const provenance = join(output, 'provenance.json')
  const build = { source, bases: bases.map(({ image }) => image), startedAt, finishedAt: new Date(), env }
  await writeFile(provenance, `${JSON.stringify(describeProvenance(build), null, 2)}\n`)
  await writeFile(join(output, 'notes.md'), source.notes)
  const artifacts = [...images, ...charts]
  const complete = { version: source.version, artifacts, provenance }
  if (isDryRun) await checkPublished(complete, registry)
  else {
    const signer = createSigner({ cosign: await findReleaseTool('cosign'), ...options })
    await publish(complete, { registry, signer, say })
  }
  return artifacts
}

/** The definitions come before the chart drape, by which users find a release. */
function makeCharts({ prefix, output }: ReleaseOptions): Promise<Artifact[]> {
  return Promise.all(
    CHARTS.toReversed().map(async (name) => {
      const folder = join(output, 'charts', name)
      const digest = await writeChart(name, { folder, work: join(output, 'archives') })
      return { repository: `${prefix}/charts/${name}`, digest, folder, sboms: [] }
    }),
  )
}

interface ImageOptions extends ReleaseOptions {
  readonly bases: readonly Base[]
}

async function makeImages(source: Source, options: ImageOptions): Promise<Artifact[]> {
  const { targets, prefix, output, verify, say } = options
  const builder = withBases(options)
  const annotations = {
    'org.opencontainers.image.version': source.version,
    'org.opencontainers.image.revision': source.commit,
    'org.opencontainers.image.licenses': 'Apache-2.0',
  }
  const syft = await findReleaseTool('syft')
  const artifacts: Artifact[] = []
  for (const target of targets) {
    say(`builds ${target}`)
    const folder = join(output, 'images', target)
    const digest = await buildForAll(target, { folder, builder, annotations, cache: true })
    if (verify) {
      const again = await buildForAll(target, { folder: `${folder}-again`, builder, annotations, cache: false })
      await rm(`${folder}-again`, { recursive: true })
      if (again !== digest) throw new Error(`${target} is not reproducible: ${digest}, then ${again}`)
    }
    const sboms = await writeSboms(target, { folder, version: source.version, syft })
    artifacts.push({ repository: `${prefix}/${target}`, digest, folder: join(folder, 'index'), sboms })
  }
  return artifacts
}

function withBases({ builder, bases }: ImageOptions): Builder {
  const pinned = bases.flatMap(({ parameter, image }) => ['--build-arg', `${parameter}=${image}`])
  return { ...builder, buildOptions: [...(builder.buildOptions ?? []), ...pinned] }
}
