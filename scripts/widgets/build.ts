import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { ROOT } from '../stack/session.ts'

/** Min browser versions: native dialogs and adopted style sheets. */
const TARGET = ['chrome111', 'firefox113', 'safari16.4']

/** Path from which the service reads it. Committed with the sources, because neither images nor `scripts/dev` build anything. */
export const BUILT_WIDGET = join(ROOT, 'api/routes/widget/drape-try-on.js')

const HEADER = '/* Drape, Apache-2.0. Written by scripts/widget build from api/widget/; changes by hand are lost. */'

/** The widget as one script for shop pages. */
export async function buildWidget(): Promise<string> {
  const bundle = await rolldown({
    input: join(ROOT, 'api/widget/main.ts'),
    platform: 'browser',
    moduleTypes: { '.css': 'text' },
    transform: { target: TARGET },
    logLevel: 'warn',
  })
  const { output } = await bundle.generate({ format: 'iife', minify: true })
  await bundle.close()
  return `${HEADER}\n${output[0].code}`
}
