import { describe, expect, it } from 'vitest'
import { describeMissing, installMissing } from '../../../scripts/testing/install.ts'
import { findAllNames, REQUIREMENTS } from '../../../scripts/testing/requirements.ts'

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
    expect(describeMissing(REQUIREMENTS.go)).toBe('Go is missing: install Go 1.21 or later (https://go.dev/dl).')
  })

  it('are fewer for a user who cannot start a node, and without long forms', () => {
    expect(findAllNames({ isRoot: true, long: true })).toEqual(expect.arrayContaining(['containerd', 'qemu']))
    const inShortRun = findAllNames({ isRoot: true, long: false })
    expect(inShortRun).toEqual(expect.arrayContaining(['chromium', 'firefox', 'containerd']))
    expect(inShortRun).not.toContain('qemu')
    expect(findAllNames({ isRoot: false, long: false })).toContain('chromium')
    expect(findAllNames({ isRoot: false, long: false })).not.toContain('containerd')
  })
})
