import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { run } from '../../../scripts/stack/commands.ts'
import { findGoTool } from '../../../scripts/stack/go-tool.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { failUnlessAllowed } from '../../support/missing.ts'

const WORKFLOW = '.github/workflows/release.yml'
const ACTIONLINT = {
  name: 'actionlint',
  package: 'github.com/rhysd/actionlint/cmd/actionlint',
  source: { version: 'v1.7.12' },
}
const actionlint = await findGoTool(ACTIONLINT)
if (typeof actionlint !== 'string') failUnlessAllowed(`${actionlint.unavailable}.`)
const read = (path: string) => parse(readFileSync(join(ROOT, path), 'utf8'))

describe('the pipelines of releases', () => {
  it.skipIf(typeof actionlint !== 'string')('are valid GitHub workflows', async () => {
    expect(await run(actionlint as string, ['-shellcheck=', '-pyflakes=', WORKFLOW], { cwd: ROOT })).toBe('')
  })

  it('run the same command on GitHub and GitLab, only for tags', () => {
    const github = read(WORKFLOW)
    const gitlab = read('.gitlab-ci.yml').release
    expect(github.on).toEqual({ push: { tags: ['v*'] } })
    expect(gitlab.rules).toEqual([{ if: '$CI_COMMIT_TAG =~ /^v/' }])
    const steps: { run?: string }[] = github.jobs.release.steps
    for (const lines of [steps.map((step) => step.run ?? ''), gitlab.script as string[]]) {
      expect(lines.join('\n')).toMatch(/scripts\/release --registry .* --verify/)
    }
  })

  it('have only the permissions of a release', () => {
    const { permissions, jobs } = read(WORKFLOW)
    expect(permissions).toEqual({})
    expect(jobs.release.permissions).toEqual({ contents: 'write', packages: 'write', 'id-token': 'write' })
  })
})
