import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../scripts/stack/session.ts'
import { blocksOf } from './support/documented-blocks.ts'

/** Blocks of a language on a page. */
interface Blocks {
  readonly page: string
  readonly language: string
  readonly count: number
}
const blocks = (page: string, language: string, count: number): Blocks => ({ page, language, count })

const CHART = 'charts/drape/docs'
const INSTALL = 'test/cluster/install/install.test.ts'
/** In `scripts/test --lane long`. */
const OPERATIONS = 'test/cluster/install/operations.test.ts'
const COMMAND_LINE = 'test/docs-command-line.test.ts'
const COMMANDS = 'test/docs-commands.test.ts'
const DATA = 'test/docs-data.test.ts'

/** The test that runs blocks as they are on the page, or reads them as the program does that they are for. */
const RUN: Readonly<Record<string, readonly Blocks[]>> = {
  [INSTALL]: [
    blocks('docs/start/platform.md', 'sh', 4),
    blocks('docs/configuration.md', 'sh', 1),
    blocks('docs/retention.md', 'sh', 2),
    blocks(`${CHART}/troubleshooting.md`, 'sh', 2),
    blocks(`${CHART}/install.md`, 'sh', 3),
    blocks(`${CHART}/dashboard.md`, 'sh', 1),
    blocks(`${CHART}/upgrade.md`, 'sh', 2),
  ],
  [OPERATIONS]: [
    blocks(`${CHART}/install.md`, 'sh', 3),
    blocks(`${CHART}/dashboard.md`, 'sh', 2),
    blocks(`${CHART}/backup.md`, 'sh', 7),
    blocks(`${CHART}/upgrade.md`, 'sh', 1),
    blocks(`${CHART}/gpu.md`, 'sh', 2),
    blocks(`${CHART}/air-gap.md`, 'sh', 2),
  ],
  [COMMAND_LINE]: [
    blocks('docs/start/shop.md', 'sh', 1),
    blocks('docs/test-mode.md', 'sh', 1),
    blocks('docs/shops.md', 'sh', 2),
    blocks('docs/webhooks.md', 'sh', 1),
    blocks('docs/api.md', 'sh', 4),
    blocks('docs/configuration.md', 'sh', 3),
    blocks('docs/dashboard.md', 'sh', 1),
    blocks('README.md', 'sh', 1),
    blocks('docs/retention.md', 'sh', 1),
    blocks('docs/widget.md', 'sh', 2),
    blocks(`${CHART}/backup.md`, 'sh', 1),
    blocks('docs/safety.md', 'sh', 1),
  ],
  [COMMANDS]: [
    blocks('docs/start/api.md', 'sh', 5),
    blocks('docs/cookbook.md', 'sh', 9),
    blocks('docs/deprecation.md', 'sh', 1),
  ],
  [DATA]: [
    blocks('docs/api.md', 'json', 1),
    blocks('docs/signing.md', 'json', 1),
    blocks('docs/privacy.md', 'json', 1),
    blocks('docs/dashboard.md', 'sh', 1),
    blocks('README.md', '', 1),
  ],
  'test/chart/documented.test.ts': [
    blocks('README.md', 'sh', 1),
    blocks('docs/provenance.md', 'sh', 2),
    blocks('charts/drape/README.md', 'sh', 1),
    blocks('charts/drape-crds/README.md', 'sh', 1),
    blocks(`${CHART}/install.md`, 'sh', 1),
    blocks(`${CHART}/install.md`, 'yaml', 2),
    blocks(`${CHART}/dashboard.md`, 'yaml', 2),
    blocks(`${CHART}/gpu.md`, 'yaml', 3),
    blocks(`${CHART}/nodes.md`, 'yaml', 3),
    blocks(`${CHART}/gitops.md`, 'yaml', 2),
  ],
  'test/controller/worker-pool/demand-page.test.ts': [blocks(`${CHART}/nodes.md`, 'json', 1)],
  'test/worker/safety/list.test.ts': [blocks('docs/safety.md', 'json', 2)],
  'test/scripts/commands/completion.test.ts': [blocks('docs/configuration.md', 'sh', 1)],
  'test/scripts/commands/provenance.test.ts': [blocks('docs/provenance.md', 'sh', 3)],
  'test/webhook-recipe.test.ts': [
    blocks('docs/webhooks.md', 'sh', 1),
    ...['ts', 'python', 'php', 'ruby'].map((language) => blocks('docs/webhooks.md', language, 1)),
  ],
  'test/signing-recipe.test.ts': ['ts', 'python', 'php', 'ruby'].map((language) =>
    blocks('docs/signing.md', language, 1),
  ),
  'test/api/receipts/receipt-mail.test.ts': [blocks('docs/erasure.md', 'sh', 4)],
  'test/receipt-recipe.test.ts': [blocks('docs/erasure.md', 'ts', 1), blocks('docs/erasure.md', 'python', 1)],
  'test/client/package.test.ts': [
    blocks('README.md', 'ts', 1),
    blocks('api/client/README.md', 'ts', 1),
    blocks('api/client/README.md', 'sh', 1),
  ],
  'test/clients/python.test.ts': [
    blocks('README.md', 'python', 1),
    blocks('clients/python/README.md', 'python', 1),
    blocks('clients/python/README.md', 'sh', 1),
  ],
  /** In `scripts/test --lane long`. */
  'test/openbao/transit.test.ts': [blocks('docs/provenance.md', 'sh', 1)],
  'test/scripts/commands/mcp.test.ts': [blocks('README.md', 'json', 1)],
  'test/scripts/commands/policy.test.ts': [blocks('docs/privacy.md', 'sh', 1), blocks('docs/privacy.md', 'json', 1)],
  'test/widget/flow.test.ts': [blocks('docs/widget.md', 'js', 1)],
  'test/widget/snippets.test.ts': [
    blocks('README.md', 'html', 1),
    blocks('docs/start/shop.md', 'html', 1),
    blocks('docs/widget.md', 'html', 1),
    blocks('docs/widget.md', 'css', 1),
    blocks('docs/widget.md', 'liquid', 1),
    blocks('docs/widget.md', 'js', 2),
  ],
  'test/scripts/stack/demo.test.ts': [blocks('README.md', 'sh', 1), blocks('docs/widget.md', 'sh', 1)],
  'test/scripts/engines/fashn-vton.test.ts': [blocks('docs/engines/fashn-vton.md', 'sh', 3)],
  'test/scripts/benchmarks/gpu.test.ts': [blocks('docs/engines/fashn-vton.md', 'sh', 1)],
  'test/scripts/releases/publish.test.ts': [blocks('docs/security.md', 'console', 1)],
  /** In `scripts/test --lane long`. */
  'test/cluster/install/airgap.test.ts': [blocks(`${CHART}/air-gap.md`, 'sh', 2)],
  'test/observability/rules.test.ts': [blocks(`${CHART}/sizing.md`, 'yaml', 1)],
  'test/documentation-flow.test.ts': [blocks('docs/contributing.md', 'mermaid', 2)],
  'test/docs.test.ts': [blocks('docs/retention.md', 'yaml', 1), blocks('docs/engines/fashn-vton.md', 'yaml', 1)],
  'test/chart/gitops.test.ts': [blocks(`${CHART}/gitops.md`, 'sh', 1)],
  'test/chart/values.test.ts': [blocks(`${CHART}/gitops.md`, 'yaml', 2)],
  'test/chart/foreign-kinds.test.ts': [blocks(`${CHART}/gpu.md`, 'yaml', 1), blocks(`${CHART}/nodes.md`, 'yaml', 1)],
}

const keyOf = ({ page, language }: Omit<Blocks, 'count'>) => `${page} ${language}`

/** `test/observability/watched.test.ts` runs the blocks of the runbooks. */
describe('every code block of the docs', () => {
  const pages = globSync(['README.md', '{docs,charts,api,clients,crds}/**/*.md'], {
    cwd: ROOT,
    exclude: ['**/node_modules/**', 'charts/drape/runbooks/**'],
  })

  it('is run by a test', () => {
    const found = pages.flatMap((page) => blocksOf(page).map(({ language }) => keyOf({ page, language })))
    const counted = Object.values(RUN).flat()
    const countOf = (key: string) =>
      counted.filter((one) => keyOf(one) === key).reduce((sum, { count }) => sum + count, 0)
    const keys = new Set([...found, ...counted.map(keyOf)])
    const differences = [...keys].map((key) => [key, found.filter((one) => one === key).length, countOf(key)] as const)
    expect(differences.filter(([, there, known]) => there !== known)).toEqual([])
  })

  it.each(Object.entries(RUN))('has a test that reads it: %s', (file, list) => {
    expect(existsSync(join(ROOT, file))).toBe(true)
    const text = readFileSync(join(ROOT, file), 'utf8')
    for (const { page } of list) expect(text, page).toMatch(new RegExp(`${basename(page)}|docs/\\*\\*/\\*\\.md`))
  })
})
