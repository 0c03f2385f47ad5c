import { describe, expect, it } from 'vitest'
import { describeMissing, installMissing } from '../../../scripts/testing/install.ts'
import { LANE_NAMES } from '../../../scripts/testing/lanes.ts'
import { findNames, REQUIREMENTS } from '../../../scripts/testing/requirements.ts'

describe('the requirements of tests', () => {
  it('are not installed again when present', async () => {
    // Every test has Redis.
    expect(await installMissing(['redis'])).toEqual([])
  })

  it('are reported in one line with instructions', () => {
    expect(describeMissing(REQUIREMENTS.faketime)).toBe(
      "libfaketime is missing: install libfaketime (Debian's package name).",
    )
    expect(describeMissing(REQUIREMENTS.chromium, 'E: no network')).toBe(
      "Chromium is missing: install chromium and fonts-dejavu-core (Debian's package names), or set CHROMIUM_PATH. apt-get: E: no network",
    )
  })

  it('are those of the lanes', () => {
    expect(findNames(['default'])).toContain('chromium')
    for (const name of ['firefox', 'containerd', 'qemu'] as const) expect(findNames(['default'])).not.toContain(name)
    expect(findNames(['browsers'])).toContain('firefox')
    expect(findNames(['images'])).toContain('containerd')
    expect(findNames(['images'])).not.toContain('qemu')
    expect(findNames(LANE_NAMES)).toEqual(expect.arrayContaining(['firefox', 'containerd', 'qemu']))
  })
})
