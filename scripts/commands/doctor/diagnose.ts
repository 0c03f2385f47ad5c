import { readSecretBox } from '../../../api/secrets/read-keys.ts'
import { createDatabase, type Database } from '../../../api/shared/database/database.ts'
import { clearText, type SecretBox } from '../../../api/shared/signing/secret-box.ts'
import { databaseUrl } from '../checks/environment.ts'
import type { Finding } from './finding.ts'
import { examineModels } from './models.ts'
import { examinePostgres } from './postgres.ts'
import { examineAccelerator, examineKeys, examineNode, examinePorts, examineSigningKeys } from './process.ts'
import { examineRedis } from './redis.ts'
import { examineStorage } from './storage.ts'

export interface Diagnosis {
  readonly problems: number
  readonly findings: readonly Finding[]
}

/** Examines every part of an installation from the location of the command: a clone, or a pod of the API. */
export async function diagnose(env: NodeJS.ProcessEnv): Promise<Diagnosis> {
  let database: Database | undefined
  // A missing or invalid URL is a finding like any other.
  const openDatabase = () => {
    database ??= createDatabase(databaseUrl(), { poolSize: 2, secrets: readBox(env) })
    return database
  }
  try {
    const found = await Promise.all([
      examineNode(process.versions.node),
      examinePorts(env),
      examinePostgres(openDatabase),
      examineRedis(openDatabase),
      examineStorage(),
      examineKeys(env),
      examineSigningKeys(env),
      examineAccelerator({ env }),
      examineModels(env),
    ])
    const findings = found.flat()
    return { problems: findings.filter(({ state }) => state === 'problem').length, findings }
  } finally {
    await database?.end()
  }
}

/** `examineKeys` reports invalid keys. */
function readBox(env: NodeJS.ProcessEnv): SecretBox {
  try {
    return readSecretBox(env) ?? clearText
  } catch {
    return clearText
  }
}
