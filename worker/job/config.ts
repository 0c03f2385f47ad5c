import { fileURLToPath } from 'node:url'
import { Type } from '../../api/shared/contract/schema.ts'
import { WORKER_ENGINES } from '../../api/shared/engines/engine-catalogue.ts'
import { readEngines } from '../../api/shared/engines/engine-names.ts'
import {
  InvalidConfiguration,
  readConfig,
  readFileOf,
  SHARED_VARIABLES,
  splitList,
} from '../../api/shared/process/config.ts'
import { QUEUES, type QueueName } from '../../api/shared/queue/redis.ts'
import { isWebhookSecret } from '../../api/shared/signing/webhook-signature.ts'
import { TOLERANCES } from '../engines/conformance.ts'

/** Directory of the models. */
export const MODEL_DIR = Type.String({ default: fileURLToPath(new URL('../models', import.meta.url)) })

/** The API does the work of workers in the database. */
const { DATABASE_URL: _, DATABASE_DIRECT_URL: __, ...variables } = SHARED_VARIABLES

const schema = Type.Object({
  ...variables,
  QUEUES: Type.String({ default: 'prepare,try-on', pattern: `^(${QUEUES.join('|')})(,(${QUEUES.join('|')}))*$` }),
  ENGINES: Type.String({ default: WORKER_ENGINES.join(',') }),
  MODEL_DIR,
  /** Directory with one subdirectory per external engine, named after the engine. */
  ENGINE_DIR: Type.String({ default: '' }),
  /** Names of engines in ENGINE_DIR whose files another process completes while the worker starts. */
  DOWNLOADED_ENGINES: Type.String({ default: '' }),
  EXECUTION_PROVIDER: Type.Enum(['cpu', 'cuda', 'tensorrt', 'webgpu'], { default: 'cpu' }),
  /** Names of engines with a non-commercial licence that the operator enables anyway. */
  ACKNOWLEDGE_NON_COMMERCIAL: Type.String({ default: '' }),
  /** `name=percent`: tolerance of the golden self-test per engine. Default 2 %. */
  SELF_TEST_TOLERANCE: Type.String({ default: '', pattern: TOLERANCES }),
  /** Names of engines whose export must contain a golden drawing. */
  SELF_TEST_GOLDEN: Type.String({ default: '' }),
  /** Ed25519 key that signs results and its certificate chain as PEM, or paths of PEM files. */
  PROVENANCE_KEY: Type.String({ default: '' }),
  PROVENANCE_KEY_FILE: Type.String({ default: '' }),
  PROVENANCE_CERTIFICATE: Type.String({ default: '' }),
  PROVENANCE_CERTIFICATE_FILE: Type.String({ default: '' }),
  /** URL of the operator's list of images that are refused, and the secret that signs the requests to it. */
  SAFETY_LIST_URL: Type.String({ default: '', pattern: '^(https?://.+)?$' }),
  SAFETY_LIST_SECRET: Type.String({ default: '' }),
  /** Whether the safety level strict asks for a review of faces that look young. */
  AGE_CHECK: Type.Enum(['true', 'false'], { default: 'false' }),
  CONCURRENCY: Type.Integer({ minimum: 1, maximum: 64, default: 1 }),
  /** Max seconds to load the models and pass the self-test. */
  START_SECONDS: Type.Integer({ minimum: 10, maximum: 3600, default: 180 }),
  WORK_SECONDS: Type.Integer({ minimum: 1, maximum: 3600, default: 60 }),
  /** Set if a controller scales the workers: the worker then reports its state to the controller and drains on request. */
  POOL: Type.String({ default: '' }),
  /** The name of the worker in its pool; the host name where there is none. */
  POD_NAME: Type.String({ default: '' }),
  /** The UID of the pod, which proves reports: no other worker knows it. */
  POD_UID: Type.String({ default: '' }),
  DRAIN_SECONDS: Type.Integer({ minimum: 0, maximum: 3600, default: 60 }),
})

/** Throws one Error that lists every configuration problem. */
export function readWorkerConfig(env: Readonly<Record<string, string | undefined>>) {
  const config = readConfig(schema, env)
  // The error of fetch, which is logged, would contain the password.
  if (config.SAFETY_LIST_URL !== '' && !isPlainUrl(config.SAFETY_LIST_URL))
    throw new InvalidConfiguration(['SAFETY_LIST_URL must be a URL without user and password'])
  if (config.SAFETY_LIST_URL !== '' && !isWebhookSecret(config.SAFETY_LIST_SECRET))
    throw new InvalidConfiguration([
      'SAFETY_LIST_SECRET must be whsec_ and 24 to 64 bytes in base64, because SAFETY_LIST_URL is set',
    ])
  return {
    ...config,
    QUEUES: splitList(config.QUEUES) as QueueName[],
    ENGINES: readEngines(config.ENGINES),
    PROVENANCE_KEY: config.PROVENANCE_KEY || readFileOf('PROVENANCE_KEY_FILE', config.PROVENANCE_KEY_FILE),
    PROVENANCE_CERTIFICATE:
      config.PROVENANCE_CERTIFICATE || readFileOf('PROVENANCE_CERTIFICATE_FILE', config.PROVENANCE_CERTIFICATE_FILE),
    FETCH_ALLOW_CIDRS: splitList(config.FETCH_ALLOW_CIDRS),
    FETCH_DNS_SERVERS: splitList(config.FETCH_DNS_SERVERS),
    FETCH_ALLOW_PORTS: splitList(config.FETCH_ALLOW_PORTS).map(Number),
  }
}

export type WorkerConfig = ReturnType<typeof readWorkerConfig>

function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}
