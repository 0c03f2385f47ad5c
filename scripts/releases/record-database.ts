// Records the schema of DATABASE_URL, to which all migrations of this version must be applied: once per release.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../stack/session.ts'
import { describeDatabase, recordContract } from './database-contract.ts'

const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
const url = process.env.DATABASE_URL
if (url === undefined) {
  console.error('Set DATABASE_URL to a database with all migrations, for example that of scripts/dev.')
  process.exitCode = 2
} else console.log(await recordContract(await describeDatabase(url, version)))
