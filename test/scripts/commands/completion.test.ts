import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { run } from '../../../scripts/stack/commands.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { REQUIREMENTS } from '../../../scripts/testing/requirements.ts'
import { commandsOf } from '../../support/documented-blocks.ts'
import { reasonWithout } from '../../support/missing.ts'
import { requestService } from '../../support/request-service.ts'

const PAGE = commandsOf('docs/configuration.md', 'Operators and the command line', 3)
/** npm, which starts slowly, as the page calls it. */
const NPM = `npm() { shift 6; node "${ROOT}/scripts/drape.ts" "$@"; }`
/** A shell with a terminal of its own: it reads what is typed and writes what is shown. */
const TERMINAL = 'import pty, sys; pty.spawn(sys.argv[1:])'
const TAB = '\t'
/** To the start of the line, so that the shell prints the line instead of running it. */
const SHOW = '\x01echo "<" \x05 ">"\r'

const SHELLS = {
  bash: { rc: '.bashrc', before: '', start: ['bash', '--noprofile', '--rcfile', '.bashrc', '-i'] },
  zsh: { rc: '.zshrc', before: 'autoload -U compinit; compinit -u; bindkey -e', start: ['zsh', '-i'] },
}

const reasons = { bash: await reasonWithout('python'), zsh: await reasonWithout('python', 'zsh') }

/** As the page installs it, in a real shell with a terminal. */
describe.each(['bash', 'zsh'] as const)('completion in %s', (shell) => {
  let folder: string

  beforeAll(async () => {
    folder = (await requestService('folder', null)).path
    await writeFile(join(folder, 'catalogue.csv'), '')
    const lines = [SHELLS[shell].before, NPM, PAGE.replace('completion bash', `completion ${shell}`)]
    await writeFile(join(folder, SHELLS[shell].rc), `${lines.join('\n')}\n`)
  })

  it.skipIf(reasons[shell] !== '')('completes commands, options, values and files', async () => {
    const cases = [
      ['drape operator role --ro', 'drape operator role --role'],
      ['drape operator role --role vi', 'drape operator role --role viewer'],
      ['drape account update --default-engine fashn', 'drape account update --default-engine fashn-vton'],
      ['drape key create --scope read,web', 'drape key create --scope read,webhooks'],
      ['drape account update --service-class prem', 'drape account update --service-class premium'],
      ['drape products import cat', 'drape products import catalogue.csv'],
      ['drape sweep --policies cat', 'drape sweep --policies catalogue.csv'],
      ['drape account update --name cat', 'drape account update --name cat'],
    ]
    const typed = cases.map(([start]) => `${start}${TAB}${SHOW}`).join('')
    const env = { ...process.env, HOME: folder, ZDOTDIR: folder, TERM: 'dumb', PS1: '$ ' }
    const args = ['-c', TERMINAL, ...SHELLS[shell].start]
    const input = `${typed}exit\r`
    const shown = await run(REQUIREMENTS.python.find() ?? '', args, { cwd: folder, env, input })
    const completed = [...shown.replaceAll('\r', '').matchAll(/^< (drape .*?) +>$/gm)].map(([, line]) => line)
    expect(completed).toEqual(cases.map(([, end]) => end))
  })
})
