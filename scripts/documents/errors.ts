import { readFile, writeFile } from 'node:fs/promises'
import { describeErrorTable, describeFailuresOnly, describeWarningTable } from '../../api/http/openapi/error-tables.ts'

// Writes the tables of error codes and warnings, and the list of codes of failures, into docs/errors.md. Usage: node scripts/documents/errors.ts

const PAGE = new URL('../../docs/errors.md', import.meta.url)
const [errors, warnings] = [/^\| Code \| Status .*\n(?:\|.*\n)+/m, /^\| Warning \| Cause .*\n(?:\|.*\n)+/m]
const text = await readFile(PAGE, 'utf8')
const failures = /(?<=not answers to\srequests: )[^.]+/
if (![errors, warnings, failures].every((part) => part.test(text)))
  throw new Error('docs/errors.md lacks a table or the list of failures')
await writeFile(
  PAGE,
  text
    .replace(errors, () => `${describeErrorTable()}\n`)
    .replace(warnings, () => `${describeWarningTable()}\n`)
    .replace(failures, describeFailuresOnly),
)
