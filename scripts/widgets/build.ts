import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { replaceFile } from '../stack/replace-file.ts'
import { ROOT } from '../stack/session.ts'

/** Min browser versions: native dialogs and adopted style sheets. */
const TARGET = ['chrome111', 'firefox113', 'safari16.4']

/** Path from which the service reads it. `scripts/setup` and image builds write it; git does not contain it. */
export const BUILT_WIDGET = join(ROOT, 'api/storefront/widget/drape-try-on.js')

const HEADER = '/* Drape, Apache-2.0. Written by scripts/widget build from api/widget/; changes by hand are lost. */'

/** Writes the widget as one script for shop pages. Returns its text. */
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
  const text = `${HEADER}\n${output[0].code}`
  await replaceFile(BUILT_WIDGET, text)
  return text
}
