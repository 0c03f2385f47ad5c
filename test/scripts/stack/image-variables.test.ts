import { describe, expect, it } from 'vitest'
import { readImageVariables } from '../../../scripts/stack/image-variables.ts'

const TEXT = `FROM base AS first
ENV ONE=1 \\
    TWO="two words"
ENV THREE=3
FROM first AS second
CMD ["main.ts"]
`

describe('the variables of an image', () => {
  it('are read from its target, across lines and in quotes', () => {
    expect(readImageVariables('first', TEXT)).toEqual({ ONE: '1', TWO: 'two words', THREE: '3' })
    expect(readImageVariables('second', TEXT)).toEqual({})
  })

  it('require an existing target', () => {
    expect(() => readImageVariables('third', TEXT)).toThrow('The Containerfile has no target third')
  })

  it('limit the memory of the controller', () => {
    expect(readImageVariables('controller')).toEqual({
      NODE_OPTIONS: expect.stringMatching(/--max-old-space-size=\d+/),
      MALLOC_ARENA_MAX: expect.stringMatching(/^\d$/),
      MALLOC_MMAP_THRESHOLD_: expect.stringMatching(/^\d+$/),
      MALLOC_TRIM_THRESHOLD_: expect.stringMatching(/^\d+$/),
    })
  })
})
