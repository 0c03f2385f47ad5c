import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { run } from '../stack/commands.ts'
import { ROOT } from '../stack/session.ts'
import { buildWidget } from '../widgets/build.ts'
import { writeSchemas } from './schemas.ts'

/** Path in the package. */
const WIDGET = 'widget/drape-try-on.js'

/** Exports of the package. */
const EXPORTS = {
  '.': compiled('client/index'),
  './node': compiled('client/node'),
  './widget': { default: `./${WIDGET}` },
}

/**
 * Compiles the client into the package `@drape/client` below the folder, without the service's dependencies. Returns the package's
 * folder.
 */
export async function buildClient(output: string): Promise<string> {
  const folder = join(output, 'package')
  await rm(folder, { recursive: true, force: true })
  await writeSchemas()
  await run('tsc', ['--project', 'api/client', '--outDir', join(folder, 'client')], { cwd: ROOT })
  await copyFile(join(ROOT, 'api/client/README.md'), join(folder, 'README.md'))
  await copyFile(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  await mkdir(dirname(join(folder, WIDGET)))
  await writeFile(join(folder, WIDGET), await buildWidget())
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(await describePackage(), null, 2)}\n`)
  return folder
}

/** Packs the client as npm does. Returns the path of the archive. */
export async function packClient(output: string): Promise<string> {
  const folder = await buildClient(output)
  const stdout = await run('npm', ['pack', '--json', '--pack-destination', output], { cwd: folder })
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  return join(output, filename)
}

async function describePackage() {
  const { version, license, type } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  return {
    name: '@drape/client',
    version,
    license,
    type,
    description: 'Client for Drape, the open, self-hosted virtual try-on platform',
    // Scoped packages are private by default.
    publishConfig: { access: 'public' },
    // Importing the widget defines its element; callers need none of its exports.
    sideEffects: [`./${WIDGET}`],
    engines: { node: '>=20.3' },
    exports: EXPORTS,
  }
}

function compiled(path: string) {
  return { types: `./${path}.d.ts`, default: `./${path}.js` }
}
