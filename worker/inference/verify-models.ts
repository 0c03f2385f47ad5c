import { Type } from '../../api/shared/contract/schema.ts'
import { configure, readConfig } from '../../api/shared/process/config.ts'
import { MODEL_DIR as MODEL_DIR_VARIABLE } from '../job/config.ts'
import { verifyModels } from './models.ts'

// Verifies the model files of this image or volume against their manifest: `node worker/inference/verify-models.ts`.

const { MODEL_DIR } = configure((env) => readConfig(Type.Object({ MODEL_DIR: MODEL_DIR_VARIABLE }), env))
try {
  console.log(JSON.stringify({ folder: MODEL_DIR, models: await verifyModels(MODEL_DIR) }))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
