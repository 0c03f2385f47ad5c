import { configure, readConfig } from '../api/shared/config.ts'
import { Type } from '../api/shared/schema.ts'
import { MODEL_DIR as MODEL_DIR_VARIABLE } from './config.ts'
import { verifyModels } from './inference/models.ts'

// Verifies the model files of this image or volume against their manifest: `node worker/verify-models.ts`.

const { MODEL_DIR } = configure((env) => readConfig(Type.Object({ MODEL_DIR: MODEL_DIR_VARIABLE }), env))
try {
  console.log(JSON.stringify({ folder: MODEL_DIR, models: await verifyModels(MODEL_DIR) }))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
