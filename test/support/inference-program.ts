import type { FromProcess, ToProcess } from '../../worker/inference/protocol.ts'

// Replaces the inference process: does what the work says, for example exit. With SILENT it never becomes ready. With WAITS it waits
// for files until it gets a message, and hangs while it opens them. The work "wait" ends with the next message to evict;
// "heat" ends after a message to warm up.

const send = (message: FromProcess) => process.send?.(message)

let awaited: number | null = null
const warm = Promise.withResolvers<void>()

process.on('message', (message: ToProcess) => {
  if (process.env.WAITS !== undefined) send({ type: 'waiting', engines: [], downloadSeconds: 1.2 })
  if (message.type === 'evict' && awaited !== null) answer(awaited)
  if (message.type === 'warm') warm.resolve()
  if (message.type !== 'run') return
  const { photo } = message.request as { photo: Uint8Array }
  const order = new TextDecoder().decode(photo)
  if (order === 'die') process.kill(process.pid, 'SIGKILL')
  else if (order === 'hang') for (;;);
  else if (order === 'wait') awaited = message.id
  else if (order === 'heat') warm.promise.then(() => answer(message.id))
  else answer(message.id)
})

function answer(id: number): void {
  send({ type: 'done', id, result: { pid: process.pid } })
}

process.on('disconnect', () => process.exit(0))
if (process.env.WAITS !== undefined) send({ type: 'waiting', engines: ['large'], downloadSeconds: null })
else if (process.env.SILENT === undefined) send({ type: 'ready', engines: {}, manifests: [] })
