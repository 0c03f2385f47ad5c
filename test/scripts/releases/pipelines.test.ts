import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { run } from '../../../scripts/stack/commands.ts'
import { findGoTool } from '../../../scripts/stack/go-tool.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { LANE_NAMES } from '../../../scripts/testing/lanes.ts'
import { failUnlessAllowed } from '../../support/missing.ts'
import { requestService } from '../../support/request-service.ts'

const WORKFLOW = '.github/workflows/release.yml'
const TESTS = '.github/workflows/test.yml'
const ACTIONLINT = {
  name: 'actionlint',
  package: 'github.com/rhysd/actionlint/cmd/actionlint',
  source: { version: 'v1.7.12' },
}
const actionlint = await findGoTool(ACTIONLINT)
if (typeof actionlint !== 'string') failUnlessAllowed(`${actionlint.unavailable}.`)
const read = (path: string) => parse(readFileSync(join(ROOT, path), 'utf8'))

describe('the pipelines of releases', () => {
  it.skipIf(typeof actionlint !== 'string')('are valid GitHub workflows, like that of the tests', async () => {
    const workflows = [WORKFLOW, TESTS]
    expect(await run(actionlint as string, ['-shellcheck=', '-pyflakes=', ...workflows], { cwd: ROOT })).toBe('')
    expect(read(TESTS).jobs.lane.strategy.matrix.lane).toEqual(LANE_NAMES.filter((name) => name !== 'long'))
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

  it('write the release page with the notes on GitLab, and update it when they run again', async () => {
    const { path: folder } = await requestService('folder', null)
    await mkdir(join(folder, '.cache/release'), { recursive: true })
    const pages = new Map<string, string>()
    await using gitlab = await startGitLab(pages)
    const script: string[] = read('.gitlab-ci.yml').release.script
    const commands = script.slice(script.findIndex((line) => line.includes('notes.md'))).join('\n')
    const env = { ...process.env, CI_API_V4_URL: gitlab.url, CI_PROJECT_ID: '7', CI_COMMIT_TAG: 'v0.1.0' }
    const publishNotes = async (notes: string, token: string) => {
      await writeFile(join(folder, '.cache/release/notes.md'), notes)
      await run('bash', ['-eo', 'pipefail', '-c', commands], { cwd: folder, env: { ...env, CI_JOB_TOKEN: token } })
    }
    await expect(publishNotes('- first', 'wrong')).rejects.toThrow('401')
    for (const notes of ['- "first" & $HOME', '- second']) {
      await publishNotes(notes, 'token')
      expect([...pages]).toEqual([['v0.1.0', notes]])
    }
  })

  it('write the release page on GitHub, and update it when they run again', async () => {
    const { path: folder } = await requestService('folder', null)
    const steps: { name?: string; run?: string }[] = read(WORKFLOW).jobs.release.steps
    const commands = steps.find(({ name }) => name === 'Publish the notes')?.run ?? ''
    // The part of gh that matters: it creates a page once, and edits one that exists.
    const gh = `gh() { case "$2" in edit) [ -e page ];; create) [ ! -e page ];; esac && echo "$2 $3" >> page; }`
    const env = { ...process.env, GITHUB_REF_NAME: 'v0.1.0' }
    for (let round = 0; round < 2; round++) await run('bash', ['-ec', `${gh}\n${commands}`], { cwd: folder, env })
    expect(await readFile(join(folder, 'page'), 'utf8')).toBe('create v0.1.0\nedit v0.1.0\n')
  })

  it('have only the permissions of a release', () => {
    const { permissions, jobs } = read(WORKFLOW)
    expect(permissions).toEqual({})
    expect(jobs.release.permissions).toEqual({ contents: 'write', packages: 'write', 'id-token': 'write' })
  })
})

/** The part of GitLab's Releases API that creates and updates pages, by tag. Only the token `token` is valid. */
async function startGitLab(pages: Map<string, string>) {
  const server = createServer(async (request, response) => {
    const status = await answer(request)
    response.writeHead(status).end()
  })
  const answer = async (request: IncomingMessage): Promise<number> => {
    const { tag_name: tag, description } = JSON.parse(await text(request))
    if (request.headers['job-token'] !== 'token') return 401
    const isUpdate = request.method === 'PUT' && request.url === `/projects/7/releases/${tag}`
    const isCreation = request.method === 'POST' && request.url === '/projects/7/releases'
    if (!isUpdate && !isCreation) return 405
    if (pages.has(tag) !== isUpdate) return isUpdate ? 404 : 409
    pages.set(tag, description)
    return isUpdate ? 200 : 201
  }
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
