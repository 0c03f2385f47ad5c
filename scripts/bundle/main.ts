import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { findBuilder } from '../container/build.ts'
import { makeBundle } from './bundle.ts'

const USAGE = `usage: airgap --output FOLDER [--without IMAGE]… [--builder-option OPTION]…

  Writes into FOLDER, which must be empty or absent:

  images.txt         every image that the chart can use, with its digest in a registry
  images/            the images in OCI layout
  weights/           the model weights as an OCI artifact, in the same layout
  *.tgz              the charts
  mirror             a script that copies images and weights into a registry: ./mirror registry.internal.example
  SHA256SUMS         checksums of all other files

  Requires the images of Drape that scripts/images has built with the chart version as tag. Other images are pulled.

  --without IMAGE          excludes an image, for example docker.io/library/postgres:18
  --builder-option OPTION  global option of buildah or podman, for example --root=/var/lib/images`

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
