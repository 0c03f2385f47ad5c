import { describe, expect, it } from 'vitest'
import { readImageVariables } from '../../../scripts/container/image-variables.ts'

const TEXT = `FROM base AS first
ENV ONE=1 \\
    TWO="two words"
ENV THREE=3
FROM first AS second
CMD ["main.ts"]
`

describe('the variables of an image', () => {
  it('are those that its target sets, over several lines and in quotes', () => {
    expect(readImageVariables('first', TEXT)).toEqual({ ONE: '1', TWO: 'two words', THREE: '3' })
    expect(readImageVariables('second', TEXT)).toEqual({})
  })

  it('are those of a target that there is', () => {
    expect(() => readImageVariables('third', TEXT)).toThrow('The Containerfile has no target third')
  })

  it('keep the memory of the controller small, as its measurements take it', () => {
    expect(readImageVariables('controller')).toEqual({
      NODE_OPTIONS: expect.stringMatching(/--max-old-space-size=\d+/),
      MALLOC_ARENA_MAX: expect.stringMatching(/^\d$/),
      MALLOC_MMAP_THRESHOLD_: expect.stringMatching(/^\d+$/),
      MALLOC_TRIM_THRESHOLD_: expect.stringMatching(/^\d+$/),
    })
  })
})
