import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeBundle } from './air-gap/bundle.ts'
import { findBuilder } from './container/build.ts'

const USAGE = `usage: airgap --output FOLDER [--without IMAGE]… [--builder-option OPTION]…

  Writes into FOLDER, which must be empty or absent:

  images.txt         every image that the chart can use, with the digest under which a registry will know it
  images/            those images, in the layout of OCI
  weights/           the weights of models as an artifact of OCI, in the same layout
  *.tgz              the charts
  mirror             a script that copies images and weights into a registry: ./mirror registry.internal.example
  SHA256SUMS         of everything else

  Images of Drape are those that scripts/images has built with the tag of the chart's version; others are pulled.

  --without IMAGE          leaves one out that you do not use, as in docker.io/library/postgres:18
  --builder-option OPTION  for buildah or podman, before their subcommands, as in --root=/var/lib/images`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    output: { type: 'string' },
    without: { type: 'string', multiple: true, default: [] },
    'builder-option': { type: 'string', multiple: true, default: [] },
  },
})

if (values.output === undefined || positionals.length > 0) {
  console.error(USAGE)
  process.exitCode = 2
} else {
  try {
    const output = resolve(values.output)
    const builder = { command: findBuilder(), options: values['builder-option'] }
    for (const line of await makeBundle(output, { builder, without: values.without })) console.log(line)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
