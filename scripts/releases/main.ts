import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { findBuilder, TARGETS, type Target } from '../container/build.ts'
import { ROOT } from '../stack/session.ts'
import { release } from './release.ts'

const USAGE = `usage: release --registry PREFIX [options]

  Publishes the version in package.json: images for amd64 and arm64 with SBOM, provenance and signatures, and the signed charts.
  Prints the digests. Refuses uncommitted files, a version without notes in CHANGELOG.md, and a version that exists with other contents.

  --registry PREFIX      prefix of the names, for example registry.example/drape: images below it, charts below PREFIX/charts
  --dry-run              does everything except uploads
  --verify               builds each image a second time without cache, and fails if the digests differ
  --without IMAGE        leaves out an image: ${TARGETS.join(', ')}; repeatable
  --key FILE             key of cosign, or address of a key in a KMS; default COSIGN_KEY. Without: the identity of the CI run
  --no-log               records no signature in Sigstore's public log
  --output FOLDER        receives images, charts, SBOMs, provenance.json and notes.md; default .cache/release
  --npmrc FILE           npm configuration during the build; not stored in the images
  --builder-option OPTION, --build-option OPTION
                         global option and build option of buildah or podman; repeatable

  BASE and PYTHON name other base images. Requires Go, which builds crane, cosign, syft and Helm, and buildah or podman.`

const several = { type: 'string', multiple: true, default: [] as string[] } as const
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    registry: { type: 'string' },
    'dry-run': { type: 'boolean', default: false },
    verify: { type: 'boolean', default: false },
    without: several,
    key: { type: 'string', default: process.env.COSIGN_KEY },
    'no-log': { type: 'boolean', default: false },
    output: { type: 'string', default: join(ROOT, '.cache/release') },
    npmrc: { type: 'string' },
    'builder-option': several,
    'build-option': several,
  },
})

if (values.registry === undefined || positionals.length > 0) {
  console.error(USAGE)
  process.exitCode = 2
} else {
  try {
    const artifacts = await release({
      prefix: values.registry,
      targets: readTargets(values.without),
      builder: {
        command: findBuilder(),
        options: values['builder-option'],
        buildOptions: values['build-option'],
        npmrc: values.npmrc,
      },
      output: resolve(values.output),
      verify: values.verify,
      isDryRun: values['dry-run'],
      key: values.key || undefined,
      isLogged: !values['no-log'],
      env: process.env,
      say: console.error,
    })
    for (const { repository, digest } of artifacts) console.log(`${repository}@${digest}`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

function readTargets(without: readonly string[]): readonly Target[] {
  const unknown = without.find((name) => !TARGETS.some((target) => target === name))
  if (unknown !== undefined) throw new Error(`The image "${unknown}" does not exist: ${TARGETS.join(', ')}`)
  return TARGETS.filter((target) => !without.includes(target))
}
