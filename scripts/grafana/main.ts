import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { presentDashboards } from './dashboards.ts'

for (const [name, text] of presentDashboards())
  await writeFile(resolve(import.meta.dirname, '../../charts/drape/dashboards', name), text)
