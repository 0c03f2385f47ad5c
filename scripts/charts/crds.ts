import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { presentDefinitions } from '../../controller/definitions/present-definitions.ts'
import { DEFINITIONS_FOLDER } from './build.ts'

for (const [name, text] of presentDefinitions()) await writeFile(join(DEFINITIONS_FOLDER, name), text)
