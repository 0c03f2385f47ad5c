import completions from '@bomb.sh/tab'
import tab from '@bomb.sh/tab/commander'
import type { Argument, Command, Option } from 'commander'
import { SCOPES } from '../../api/accounts/restrictions.ts'
import { BUILT_IN_ENGINES } from '../../api/shared/engines/engine-catalogue.ts'
import { WEBHOOK_MESSAGES } from '../../api/webhooks/messages.schema.ts'

/** Values of options and arguments by name, beside those that are declared as choices. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  scope: SCOPES,
  events: Object.keys(WEBHOOK_MESSAGES),
  'default-engine': BUILT_IN_ENGINES,
  'fallback-engines': BUILT_IN_ENGINES,
  '<name>': BUILT_IN_ENGINES,
}

/** Directives of the completion protocol: the shell completes files, or only what is listed. */
const FILES = 0
const NO_FILES = 4

/** A script that needs no package and evaluates nothing of the line: words are passed as they are. */
const BASH_SCRIPT = `# bash completion for drape
_drape_complete() {
  local word line cur=\${COMP_WORDS[COMP_CWORD]} directive=4
  local -a words=()
  [[ $cur == '=' ]] && cur=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do [[ $word == '=' ]] || words+=("$word"); done
  [[ \${COMP_WORDS[COMP_CWORD]} == '=' ]] && words+=('')
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :* ]]; then directive=\${line#:}
    elif [[ \${line%%$'\\t'*} == "$cur"* ]]; then COMPREPLY+=("\${line%%$'\\t'*}"); fi
  done < <(drape complete -- "\${words[@]}" 2>/dev/null)
  if (( directive & 4 )); then compopt +o default +o bashdefault; fi
}
complete -o default -o bashdefault -F _drape_complete drape
`

/** Adds `drape completion SHELL`, which prints the script of a shell, and the hidden `complete`, which the scripts call. */
export function addCompletion(program: Command): void {
  tab(program, { completionCommandName: 'completion' })
  for (const command of program.commands) {
    if (command.name() === 'complete') command.action((words: string[]) => complete(program, words))
    if (command.name() === 'completion') command.action((shell: string) => printScript(shell))
  }
}

function printScript(shell: string): void {
  if (shell === 'bash') process.stdout.write(BASH_SCRIPT)
  else completions.setup('drape', 'drape', shell)
}

/** Prints the completions of the last word. */
function complete(program: Command, words: readonly string[]): void {
  const place = findPlace(program, words)
  if (place === null) {
    completions.parse([...words])
    return
  }
  const { target, typed } = place
  const start = typed.slice(0, typed.lastIndexOf(',') + 1)
  for (const value of valuesOf(target)) if (`${start}${value}`.startsWith(typed)) console.log(`${start}${value}\t`)
  console.log(`:${isFile(target) ? FILES : NO_FILES}`)
}

/** The option or argument whose value the last word is, and its text so far; null when the word is a command or an option. */
function findPlace(program: Command, words: readonly string[]): { target: Option | Argument; typed: string } | null {
  let command = program
  let open: Option | null = null
  for (const word of words.slice(0, -1)) {
    if (open !== null) open = null
    else if (word.startsWith('-')) open = findOption(command, word)
    else command = command.commands.find((one) => one.name() === word) ?? command
  }
  const typed = words.at(-1) ?? ''
  if (open !== null) return { target: open, typed }
  const [, name = '', value = ''] = /^(--[\w-]+)=(.*)$/s.exec(typed) ?? []
  const option = findOption(command, name)
  if (option !== null) return { target: option, typed: value }
  const [argument] = command.registeredArguments
  return argument === undefined || typed.startsWith('-') ? null : { target: argument, typed }
}

/** An option with a value. */
function findOption(command: Command, name: string): Option | null {
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const found = at.options.find(({ long, short }) => name === long || name === short)
    if (found !== undefined) return found.required || found.optional ? found : null
  }
  return null
}

const PLACEHOLDER = /<(.+)>$/

/** The text between the brackets, for example `true|false` or `file`. */
function placeholderOf(target: Option | Argument): string {
  return 'flags' in target ? (PLACEHOLDER.exec(target.flags)?.[1] ?? '') : target.name()
}

function valuesOf(target: Option | Argument): readonly string[] {
  const name = 'flags' in target ? target.name() : `<${target.name()}>`
  const listed = target.argChoices ?? VALUES[name]
  if (listed !== undefined) return listed
  const parts = placeholderOf(target).split('|')
  return parts.length > 1 && parts.every((part) => CONSTANTS.includes(part)) ? parts : []
}

/** Words of placeholders that are values themselves. */
const CONSTANTS = ['true', 'false', 'off', 'standard', 'strict', 'premium']

function isFile(target: Option | Argument): boolean {
  return /^(file|image|path|folder)\b/.test(placeholderOf(target).replace('<', ''))
}
