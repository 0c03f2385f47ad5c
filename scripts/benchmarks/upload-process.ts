import { createHash, type Hash } from 'node:crypto'
import { createServer } from 'node:http'
import { Writable } from 'node:stream'
import formidable from 'formidable'

// Parses and hashes a form with one file: the baseline of Drape's uploads.

const { PORT, PROBE_PORT } = process.env

createServer(async (request, response) => {
  const hash = createHash('sha256')
  const form = formidable({ maxFileSize: 2 ** 30, fileWriteStreamHandler: () => hashing(hash) })
  await form.parse(request)
  response.end(JSON.stringify({ hash: hash.digest('hex') }))
}).listen(Number(PORT))
createServer((_, response) => response.end('ready')).listen(Number(PROBE_PORT))
process.on('SIGTERM', () => process.exit(0))

function hashing(hash: Hash): Writable {
  return new Writable({
    write: (chunk, _, done) => {
      hash.update(chunk)
      done()
    },
  })
}
