import { readBounded } from '../../../api/shared/network/bounded-body.ts'
import { createRedis } from '../../../api/shared/queue/redis.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { createWorkerCalls } from '../../job/calls.ts'
import { findMark } from './find-mark.ts'

// Reads the mark of the image on standard input, where a worker runs: with its MARK_DIR and REDIS_URL. Prints a line of JSON.

/** The file shares the memory of the worker. */
const MAX_BYTES = 64 * 1024 * 1024

try {
  const { MARK_DIR: folder = '', REDIS_URL: redisUrl = '' } = process.env
  if (folder === '' || redisUrl === '') throw new Error('Set MARK_DIR and REDIS_URL, as workers have them.')
  const { bytes, isCut } = await readBounded(process.stdin, MAX_BYTES)
  if (isCut) throw new Error('The file is larger than 64 MB.')
  const log = createLog({ process: 'read-mark', level: 'silent' })
  const redis = createRedis(redisUrl, { role: 'consumer', log })
  const find = (id: string) => createWorkerCalls(redis, log).findMark({ id })
  console.log(JSON.stringify(await findMark(bytes, { folder, find }).finally(redis.close)))
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(2)
}
