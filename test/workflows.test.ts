import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { run } from '../scripts/stack/commands.ts'
import { findGoTool } from '../scripts/stack/go-tool.ts'
import { ROOT } from '../scripts/stack/session.ts'
import { LANE_NAMES } from '../scripts/testing/lanes.ts'
import { codeOf } from './support/documented-blocks.ts'
import { failUnlessAllowed } from './support/missing.ts'
import { requestService } from './support/request-service.ts'

const RELEASE = '.github/workflows/release.yml'
const TESTS = '.github/workflows/test.yml'
const ACTIONLINT = {
  name: 'actionlint',
  package: 'github.com/rhysd/actionlint/cmd/actionlint',
  source: { version: 'v1.7.12' },
}
const actionlint = await findGoTool(ACTIONLINT)
if (typeof actionlint !== 'string') failUnlessAllowed(`${actionlint.unavailable}.`)
const read = (path: string) => parse(readFileSync(join(ROOT, path), 'utf8'))

describe('the workflows', () => {
  it.skipIf(typeof actionlint !== 'string')('are valid, and run every lane of the tests', async () => {
    const workflows = [RELEASE, TESTS]
    expect(await run(actionlint as string, ['-shellcheck=', '-pyflakes=', ...workflows], { cwd: ROOT })).toBe('')
    expect(read(TESTS).jobs.lane.strategy.matrix.lane).toEqual(LANE_NAMES.filter((name) => name !== 'long'))
  })

  it('release only tags, with only the permissions of a release', () => {
    const { on, permissions, jobs } = read(RELEASE)
    expect([on, permissions]).toEqual([{ push: { tags: ['v*'] } }, {}])
    expect(jobs.release.permissions).toEqual({ contents: 'write', packages: 'write', 'id-token': 'write' })
  })

  it('release a version with its notes of the changelog, to a registry in lower case', async () => {
    const { notes, variables } = await checkVersion(
      'v0.2.0',
      '# Changelog\n\n## 0.2.0 (2026-11-25)\n\n- New\n\n## 0.1.0 (2026-01-01)\n\n- Old\n',
    )
    expect(notes).toBe('\n- New\n\n')
    expect(variables).toBe('VERSION=0.2.0\nREGISTRY=ghcr.io/shop/drape\n')
  })

  it.each([
    ['a tag of another version', 'v0.3.0', '## 0.2.0 (2026-11-25)\n\n- New\n', 'absent'],
    [
      'a version without notes',
      'v0.2.0',
      '## Unreleased\n\n- New\n\n## 0.2.0 (2026-11-25)\n\n## 0.1.0 (2026-01-01)\n\n- Old\n',
      'absent',
    ],
    ['a version that is released', 'v0.2.0', '## 0.2.0 (2026-11-25)\n\n- New\n', 'present'],
  ] as const)('refuse to release %s', async (_what, tag, changelog, page) => {
    await expect(checkVersion(tag, changelog, page)).rejects.toThrow()
  })

  it('publish what the page says how to verify', () => {
    const steps: { run?: string }[] = read(RELEASE).jobs.release.steps
    const commands = codeOf('docs/security.md', 'console')
    expect(commands).toContain(`--certificate-identity https://github.com/OWNER/drape/${RELEASE}@refs/tags/v0.2.0`)
    expect(commands).toContain('ghcr.io/OWNER/drape/api:0.2.0')
    expect(commands.match(/\.(Provenance|SBOM) /g)).toHaveLength(2)
    const publish = steps.map((step) => step.run ?? '').join('\n')
    for (const part of [
      '--provenance=mode=max',
      '--sbom=true',
      'cosign sign --yes --recursive',
      'linux/amd64,linux/arm64',
    ])
      expect(publish).toContain(part)
  })
})

/** Runs the first own step of the release in a folder with the version 0.2.0. */
async function checkVersion(tag: string, changelog: string, page: 'absent' | 'present' = 'absent') {
  const { path: folder } = await requestService('folder', null)
  await writeFile(join(folder, 'package.json'), '{ "version": "0.2.0" }')
  await writeFile(join(folder, 'CHANGELOG.md'), changelog)
  const steps: { name?: string; run?: string }[] = read(RELEASE).jobs.release.steps
  const commands = steps.find(({ name }) => name === 'Check the version')?.run ?? ''
  // The parts of jq and gh that matter.
  const programs = `jq() { echo 0.2.0; }\ngh() { ${page === 'present'}; }`
  const variables = join(folder, 'variables')
  const env = { ...process.env, GITHUB_REF_NAME: tag, GITHUB_REPOSITORY: 'Shop/Drape', GITHUB_ENV: variables }
  await run('bash', ['-eo', 'pipefail', '-c', `${programs}\n${commands}`], { cwd: folder, env })
  return { notes: await readFile(join(folder, 'notes.md'), 'utf8'), variables: await readFile(variables, 'utf8') }
}
