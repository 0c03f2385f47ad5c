import { readFile, writeFile } from 'node:fs/promises'
import { describeDataMap } from '../../api/data-map/tables.ts'

// Writes the tables at the end of docs/privacy.md. Usage: node scripts/documents/privacy.ts

const PAGE = new URL('../../docs/privacy.md', import.meta.url)
const TABLES = /\n### People in photos\n[\s\S]*$/
const text = await readFile(PAGE, 'utf8')
if (!TABLES.test(text)) throw new Error('docs/privacy.md has no data map')
await writeFile(
  PAGE,
  text.replace(TABLES, () => `\n${describeDataMap()}\n`),
)
