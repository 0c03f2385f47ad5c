import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'

it('reads no more than 64 MB of a file without end', async () => {
  const child = spawn(process.execPath, ['worker/outputs/mark/read-mark.ts'], {
    cwd: resolve(import.meta.dirname, '../../../..'),
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...process.env, MARK_DIR: '/nonexistent', REDIS_URL: 'redis://127.0.0.1:1' },
  })
  const chunk = Buffer.alloc(1024 * 1024)
  let sent = 0
  const endless = Readable.from(
    (function* () {
      for (; sent < 500; sent++) yield chunk
    })(),
  )
  // The program closes the pipe.
  child.stdin.on('error', () => endless.destroy())
  endless.pipe(child.stdin)
  const [[code], said] = await Promise.all([once(child, 'exit'), text(child.stderr)])
  expect({ code, said }).toEqual({ code: 2, said: 'The file is larger than 64 MB.\n' })
  expect(sent).toBeLessThan(80)
})
