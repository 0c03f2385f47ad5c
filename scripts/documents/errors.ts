import { readFile, writeFile } from 'node:fs/promises'
import { describeErrorTable, describeWarningTable } from '../../api/http/openapi/error-tables.ts'

// Writes the tables of error codes and warnings into docs/errors.md. Usage: node scripts/documents/errors.ts

const PAGE = new URL('../../docs/errors.md', import.meta.url)
const [errors, warnings] = [/^\| Code \| Status .*\n(?:\|.*\n)+/m, /^\| Warning \| Cause .*\n(?:\|.*\n)+/m]
const text = await readFile(PAGE, 'utf8')
if (![errors, warnings].every((table) => table.test(text))) throw new Error('docs/errors.md lacks a table')
await writeFile(
  PAGE,
  text.replace(errors, () => `${describeErrorTable()}\n`).replace(warnings, () => `${describeWarningTable()}\n`),
)
