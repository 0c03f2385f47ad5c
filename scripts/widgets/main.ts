import { gzipSync } from 'node:zlib'
import { BUILT_WIDGET, buildWidget } from './build.ts'

const USAGE = `usage: scripts/widget build

  writes api/storefront/widget/drape-try-on.js from api/widget/`

if (process.argv.slice(2).join(' ') === 'build') {
  const text = await buildWidget()
  console.log(`${BUILT_WIDGET}: ${text.length} bytes, ${gzipSync(text, { level: 9 }).length} with gzip`)
} else {
  console.error(USAGE)
  process.exitCode = 2
}
