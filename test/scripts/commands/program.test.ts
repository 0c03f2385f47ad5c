import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import type { Command as Program } from 'commander'
import { describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createProgram } from '../../../scripts/commands/program.ts'
import { createCommandLine, outputOf } from '../../support/command-line.ts'
import { openTestDatabase } from '../../support/postgres.ts'

const TRY_ON = ['try-on', '--person', 'photo.jpg', '--product', 'shirt.jpg', '--output']

describe('the command line', async () => {
  const { database, url } = await openTestDatabase({ poolSize: 1 })
  const { drape } = createCommandLine(url)
  const accountId = (await createAccounts(database).insert({ name: 'Shop', email: null, credits: 0 })).id

  it.each([
    [['shop', 'create', '--account', 'acc_x', '--platform', 'plugin'], '--domain is required.', 'shop create'],
    [
      ['shop', 'create', '--account', 'acc_x', '--platform', 'shopify', '--domain', 'a.example'],
      '--secret-file is',
      'shop create',
    ],
    [['key', 'rotate'], "unknown command 'rotate'", 'key'],
    [['sweep', '--fast'], "unknown option '--fast'.", 'sweep'],
    [['credits', 'add', '--account', 'acc_x', '--credits', 'many'], '--credits must be a whole number', 'credits add'],
    [['credits', 'add', '--account', 'acc_x', '--credits', '1e3'], '--credits must be a whole number', 'credits add'],
    [['key', 'create', '--acount', 'acc_x'], "unknown option '--acount' (Did you mean --account?)", 'key create'],
    [['polcy', 'list'], "unknown command 'polcy' (Did you mean policy?)", ''],
    [['shop', 'secret', 'nonsense', '--help'], "unknown command 'nonsense'", 'shop secret'],
    [['account', 'list', '--limit', '0'], '--limit must be a whole number from 1 to 1000', 'account list'],
    [[...TRY_ON, '/nonexistent/r.jpg'], '/nonexistent/r.jpg cannot be written (ENOENT).', 'try-on'],
    [[...TRY_ON, tmpdir()], `${tmpdir()} cannot be written (EISDIR).`, 'try-on'],
    [['nonsense', '--help'], "unknown command 'nonsense'", ''],
    [['help', 'nonsense'], "unknown command 'nonsense'", ''],
    [['help', 'shop', 'nonsense'], "unknown command 'nonsense'", 'shop'],
    [['check'], "missing required argument 'name'.", 'check'],
    [['nonsense'], "unknown command 'nonsense'.", ''],
  ])('reports the error of %j and its help in one line', async (args, problem, command) => {
    const { code, output, stderr } = await drape(...args)
    expect({ code, output }).toEqual({ code: 2, output: '' })
    expect(stderr).toContain(problem)
    expect(stderr.endsWith(`Help: ${['drape', command, '--help'].filter((word) => word !== '').join(' ')}\n`)).toBe(
      true,
    )
    expect(stderr.trimEnd()).not.toContain('\n')
  })

  it.each([
    ...['key', 'shop', 'webhook', 'policy'].map((group) => [group, 'list', '--account', 'acc_none']),
    ['policy', 'list', '--shop', 'none.example'],
    ['shop', 'requests', '--shop', 'none.example'],
    ['webhook', 'deliveries', '--endpoint', 'endpoint_none'],
  ])('lists nothing of what does not exist: %s %s %s %s', async (...args) => {
    const { output, stderr } = await drape(...args)
    expect({ output, stderr }).toEqual({ output: '', stderr: expect.stringMatching(/^The \w+ \S+ does not exist\./) })
  })

  it('omits the value of an unknown option from the error', async () => {
    const { code, stderr } = await drape('products', 'import', 'catalogue.csv', '--key=sk_secret')
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "unknown option '--key'. Help: drape products import --help\n",
    })
  })

  it.each(['sk_a\nb', 'sk_a…', 'sk_a b', ' '])('refuses the key %j at once, without showing it', async (key) => {
    const { drape: withKey } = createCommandLine('', { DRAPE_API_KEY: key, DRAPE_URL: 'http://127.0.0.1:1' })
    const { code, stderr } = await withKey('trigger', 'generation.completed')
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^The API key (contains|is empty)/),
    })
    expect(stderr).not.toContain('sk_')
  })

  it('refuses an ID that a URL cannot carry before the request', async () => {
    const { drape: withKey } = createCommandLine('', { DRAPE_API_KEY: 'sk_1', DRAPE_URL: 'http://127.0.0.1:1' })
    expect(await withKey('events', 'resend', '..')).toMatchObject({
      code: 1,
      stderr: 'id cannot be part of a URL: "..".\n',
    })
  })

  it('reports installation errors without a stack trace', async () => {
    const { code, stderr } = await createCommandLine('postgres://drape:hush@127.0.0.1:1/none').drape('account', 'list')
    expect(code).toBe(1)
    expect(stderr).toBe(
      'Postgres does not respond: connect ECONNREFUSED 127.0.0.1:1. Check DATABASE_URL, and that Postgres runs.\n',
    )
    const unexpected = await createCommandLine(url, { SECRETS_KEY: 'short' }).drape('secrets', 'rewrap')
    expect([unexpected.code, unexpected.stderr.trimEnd().split('\n').length]).toEqual([2, 1])
  })

  it('prints help of the program, of groups and of commands to standard output', async () => {
    const help = async (...words: string[]) => {
      const { code, output, stderr } = await drape(...words, '--help')
      expect({ code, stderr }, words.join(' ')).toEqual({ code: 0, stderr: '' })
      return output
    }
    const [all, group] = [await help(), await help('shop')]
    for (const name of ['migrate', 'shop', 'check']) expect(all).toContain(`\n  ${name}`)
    expect(all).not.toContain('--platform')
    for (const name of ['create', 'secret', 'requests']) expect(group).toContain(`\n  ${name}`)
    const part = await help('shop', 'secret', 'add')
    expect(part).toMatch(/^Usage: drape shop secret add --shop <id\|domain> \[options\]\n/)
    expect(part).toContain('--secret-file <path|->')
    expect(part).not.toMatch(/--secret |--platform/)
    const wordless = await drape()
    expect(wordless).toMatchObject({ code: 2, output: '', stderr: expect.stringContaining('Usage: drape') })
  })

  it('declares help for each command, and each option once', () => {
    const program = createProgram(async () => {})
    const leaves = (command: Program): Program[] =>
      command.commands.length > 0 ? command.commands.flatMap(leaves) : [command]
    for (const command of leaves(program).filter((one) => one.name() !== 'help')) {
      expect(command.description(), command.name()).toMatch(/^[A-Z].+/)
      const flags = command.options.map(({ long }) => long)
      expect(new Set(flags).size, command.name()).toBe(flags.length)
      expect(command.options.every(({ description }) => description.length > 3)).toBe(true)
    }
  })

  it('prints its version', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'))
    expect(await drape('--version')).toMatchObject({ code: 0, output: `${version}\n` })
  })

  it('lists accounts by page, newest first', async () => {
    const accounts = createAccounts(database)
    const { id: newest } = await accounts.insert({ name: 'Newest', email: null, credits: 0 })
    const idsOf = async (...args: string[]) =>
      JSON.parse((await drape('account', 'list', '--json', ...args)).output).accounts.map(
        ({ id }: { id: string }) => id,
      )
    const all = await idsOf()
    expect([all[0], all.toSorted().toReversed()]).toEqual([newest, all])
    expect(await idsOf('--limit', '1', '--before', newest)).toEqual([all[1]])
  })

  it('prints tables by default', async () => {
    const { id } = await createAccounts(database).insert({ name: 'Lines', email: null, credits: 0 })
    const output = await outputOf(['key', 'list', '--account', id], { ...process.env, DATABASE_URL: url })
    const [head, ...lines] = output.trimEnd().split('\n')
    expect(head).toMatch(/^id +kind +/)
    expect(lines.map((line) => line.slice(head.indexOf('kind')).split(' ')[0]).sort()).toEqual([
      'publishable',
      'secret',
    ])
  })

  it('warns when it stores a secret unencrypted', async () => {
    const inClear = createCommandLine(url, { SECRETS_KEY: '', SECRETS_KEY_FILE: '' })
    const { code, stderr } = await inClear.drape(
      'shop',
      'create',
      '--account',
      accountId,
      '--platform',
      'plugin',
      '--domain',
      'clear.example',
    )
    expect(code).toBe(0)
    expect(stderr).toBe(
      'warning: this secret is stored unencrypted, because SECRETS_KEY is not set: set the same SECRETS_KEY as for the API\n',
    )
  })

  it('reports a secret that its keys cannot decrypt, without a stack trace', async () => {
    const sealed = await drape(
      'shop',
      'create',
      '--account',
      accountId,
      '--platform',
      'plugin',
      '--domain',
      'sealed.example',
    )
    expect(sealed).toMatchObject({ code: 0, stderr: '' })
    const other = createCommandLine(url, { SECRETS_KEY: randomBytes(32).toString('base64') })
    expect(await other.answered('shop', 'requests', '--shop', 'sealed.example')).toEqual({ requests: [] })
    const { code, stderr } = await other.drape('secrets', 'rewrap')
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^shops\.secrets of shop_\S+ is encrypted by the key \S+, which is not configured: add it to SECRETS_KEY\.\n$/,
    )
  })
})
