import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { readSource } from '../../../scripts/releases/source.ts'
import { run } from '../../../scripts/stack/commands.ts'
import { requestService } from '../../support/request-service.ts'

const FILES = {
  'package.json': '{"version": "1.2.0"}',
  'package-lock.json': '{}',
  'charts/drape/Chart.yaml': 'version: 1.2.0',
  'charts/drape-crds/Chart.yaml': 'version: 1.2.0',
  'CHANGELOG.md':
    '# Changelog\n\n## Unreleased\n\n- Later\n\n## 1.2.0 (2026-11-25)\n\n- **New**\n\n## 1.1.0 (2026-10-01)\n\n- Old\n',
}

const TODAY = new Date('2026-11-27T23:59:00Z')

describe('the source of a release', () => {
  let root = ''
  const git = (...args: string[]) => run('git', args, { cwd: root })
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  const commit = async (files: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(files)) await write(path, text)
    await git('add', '.')
    await git('-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', 'commit', '--message=test')
  }

  beforeEach(async () => {
    root = (await requestService('folder', null)).path
    await git('init', '--quiet')
    await git('remote', 'add', 'origin', 'https://token:secret@git.example/drape.git')
    await commit(FILES)
  })

  it('has commit, version, notes and repository URL without credentials', async () => {
    expect(await readSource(root, TODAY)).toEqual({
      version: '1.2.0',
      commit: (await git('rev-parse', 'HEAD')).trim(),
      repository: 'https://git.example/drape.git',
      notes: '- **New**\n',
      lockFile: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    })
  })

  it.each(['package.json', 'new.txt'])('is rejected with uncommitted %s', async (path) => {
    await write(path, 'other')
    await expect(readSource(root, TODAY)).rejects.toThrow(new RegExp(`Commit or remove these files first:\\n.*${path}`))
  })

  it.each([
    ['CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n- 1.2.0\n', 'insert the line "## 1.2.0 (2026-11-27)"'],
    ['CHANGELOG.md', '## 1.2.0\n\n- New\n', 'insert the line "## 1.2.0 (2026-11-27)"'],
    [
      'CHANGELOG.md',
      '## 1.2.0 (2026-11-25)\n\n## 1.1.0 (2026-10-01)\n\n- Old\n',
      'has no text below the heading of 1.2.0',
    ],
    ['charts/drape/Chart.yaml', 'version: 1.1.0', 'has the version 1.1.0, package.json 1.2.0'],
    ['package.json', '{"version": "latest; reboot"}', '"latest; reboot" is not a version such as 1.2.0'],
  ])('is rejected when %s is %j', async (path, text, message) => {
    await commit({ [path]: text })
    await expect(readSource(root, TODAY)).rejects.toThrow(message)
  })
})
