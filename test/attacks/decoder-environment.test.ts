import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const SECRETS = {
  DATABASE_URL: 'postgres://drape:very-secret@127.0.0.1/drape',
  REDIS_URL: 'redis://:very-secret@127.0.0.1',
  SIGNING_SECRET: 'very-secret',
  AWS_SECRET_ACCESS_KEY: 'very-secret',
}

describe('a thread that decodes bytes of callers', () => {
  it('has no environment variables', async () => {
    const program = ['test/support/thread-environments.ts']
    const { stdout } = await promisify(execFile)(process.execPath, program, { env: { ...process.env, ...SECRETS } })
    const environments = stdout.trim().split('\n')
    expect(environments.length).toBeGreaterThanOrEqual(3)
    for (const environment of environments) expect(JSON.parse(environment)).toEqual({})
  })
})
