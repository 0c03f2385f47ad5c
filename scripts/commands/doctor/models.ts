import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../../stack/commands.ts'
import { examine, type Finding, ok, skipped } from './finding.ts'

/** Not imported: API images do not contain it, and native code runs in a separate process. */
const VERIFY_MODELS = join(import.meta.dirname, '../../../worker/inference/verify-models.ts')

/** Verifies the model files against their manifest in a separate process. Skipped in images without models. */
export async function examineModels(env: NodeJS.ProcessEnv): Promise<readonly Finding[]> {
  if (!existsSync(VERIFY_MODELS)) {
    return [
      skipped('models', 'not in this image; kubectl exec POD -c worker -- node worker/inference/verify-models.ts'),
    ]
  }
  return examine(
    'models',
    'Restore the files: git checkout worker/models, or pull the image of the worker again.',
    async () => {
      const { models } = JSON.parse(await run(process.execPath, [VERIFY_MODELS], { env }).catch(withoutCommand)) as {
        models: object
      }
      return [ok('models', `${Object.keys(models).length} files have the SHA-256 of the manifest`)]
    },
  )
}

/** The message of the program, without its name and exit status. */
function withoutCommand({ message }: Error): never {
  throw new Error(message.slice(message.indexOf('\n') + 1))
}
