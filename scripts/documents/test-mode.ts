import { readFile, writeFile } from 'node:fs/promises'
import { ROUTES } from '../../api/http/core-routes.ts'
import { describeTestWays } from '../../api/test-mode/refusals.ts'

// Writes the table of error codes into docs/test-mode.md. Usage: node scripts/documents/test-mode.ts

const PAGE = new URL('../../docs/test-mode.md', import.meta.url)
const text = await readFile(PAGE, 'utf8')
const table = /^\| Code \| With a test key \|\n(?:\|.*\n)+/m
if (!table.test(text)) throw new Error('docs/test-mode.md has no table of codes')
await writeFile(
  PAGE,
  text.replace(table, () => `${describeTestWays(ROUTES)}\n`),
)
