import { compileCheck, Type } from '../../api/shared/contract/schema.ts'
import { createClient } from '../runtime/client.ts'
import { openConnection } from '../runtime/connection.ts'
import { deleteSecrets } from './delete-secrets.ts'
import { ensureSecrets, GeneratedSecretSchema } from './ensure-secrets.ts'

// Generates the Secrets of a release in the cluster, so that no template of the chart is random, or deletes them:
// `node controller/generated-secrets/main.ts ensure SECRETS | delete SECRETS DEPLOYMENT`, with the Secrets as JSON.

const check = compileCheck(Type.Array(GeneratedSecretSchema, { minItems: 1 }))

const [action, json = '', deployment = ''] = process.argv.slice(2)
if (action === 'ensure' || (action === 'delete' && deployment !== '')) await act(action)
else {
  console.error('usage: node controller/generated-secrets/main.ts ensure SECRETS | delete SECRETS DEPLOYMENT')
  process.exitCode = 2
}

async function act(action: 'ensure' | 'delete'): Promise<void> {
  try {
    const secrets = readSecrets()
    const connection = openConnection()
    try {
      const client = createClient(connection, { fieldManager: 'drape-secrets' })
      const names = secrets.map(({ metadata }) => metadata)
      const unless = { namespace: names[0].namespace, name: deployment }
      const lines =
        action === 'ensure'
          ? await ensureSecrets(client, secrets)
          : await deleteSecrets(client, { secrets: names, unless })
      console.log(lines.join('\n'))
    } finally {
      connection.close()
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

function readSecrets() {
  const result = check(JSON.parse(json))
  if (result.ok) return result.value
  throw new Error(result.problems.map(({ path, message }) => `${path} ${message}`).join('; '))
}
