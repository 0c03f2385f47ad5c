import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MAX_FILE_BYTES } from '../../api/client/index.ts'
import { MAX_FILE_BYTES as LIMIT_OF_SERVICE } from '../../api/middleware/body.ts'
import { presentSchemas } from '../../scripts/clients/schemas.ts'

describe('the generated types of the client', () => {
  it('match the OpenAPI document; scripts/client types generates them', async () => {
    const committed = readFileSync(new URL('../../api/client/schemas.ts', import.meta.url), 'utf8')
    expect(await presentSchemas()).toBe(committed)
  })

  it('have the file size limit of the service', () => {
    expect(MAX_FILE_BYTES).toBe(LIMIT_OF_SERVICE)
  })
})
