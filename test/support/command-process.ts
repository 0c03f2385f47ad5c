/** What the program printed. */
export interface Said {
  readonly code: number
  readonly output: string
  /** On stderr. */
  readonly stderr: string
}

export interface CommandCall {
  readonly id: number
  /** Without program and script. */
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

const SCRIPT = new URL('../../scripts/drape.ts', import.meta.url)

/** The program again: its own module is evaluated for each call, the modules that it imports only once. */
async function run({ id, args, env }: CommandCall): Promise<Said> {
  process.env = { ...env }
  process.argv = [process.execPath, SCRIPT.pathname, ...args]
  process.exitCode = undefined
  const said = { output: '', stderr: '' }
  const writes = [process.stdout.write, process.stderr.write] as const
  process.stdout.write = keep((text) => {
    said.output += text
  })
  process.stderr.write = keep((text) => {
    said.stderr += text
  })
  try {
    await import(`${SCRIPT.href}?call=${id}`)
  } finally {
    ;[process.stdout.write, process.stderr.write] = writes
  }
  return { ...said, code: Number(process.exitCode ?? 0) }
}

function keep(add: (text: string) => void): typeof process.stdout.write {
  return (chunk, encodingOrDone?: unknown, done?: unknown) => {
    add(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())
    const written = typeof encodingOrDone === 'function' ? encodingOrDone : done
    if (typeof written === 'function') written()
    return true
  }
}

// Each call may add a listener for its end, as for that of a process of its own.
process.setMaxListeners(0)
let last: Promise<unknown> = Promise.resolve()
process.on('message', (call: CommandCall) => {
  last = last.then(async () => process.send?.({ id: call.id, said: await run(call) }))
})
