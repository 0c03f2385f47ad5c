import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MAX_FILE_BYTES } from '../../api/client/index.ts'
import { MAX_FILE_BYTES as LIMIT_OF_SERVICE } from '../../api/middleware/body.ts'
import { presentSchemas } from '../../scripts/clients/schemas.ts'

describe('what the client knows of the service', () => {
  it('is what the OpenAPI document says now; scripts/client types writes it', async () => {
    const committed = readFileSync(new URL('../../api/client/schemas.ts', import.meta.url), 'utf8')
    expect(await presentSchemas()).toBe(committed)
  })

  it('has the same limit of files', () => {
    expect(MAX_FILE_BYTES).toBe(LIMIT_OF_SERVICE)
  })
})
