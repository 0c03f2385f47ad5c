import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { presentDefinitions } from '../controller/present-definitions.ts'

for (const [name, text] of presentDefinitions()) await writeFile(resolve(import.meta.dirname, '../crds', name), text)
