import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { Busboy } from '@fastify/busboy'

// Parses and hashes a form with one file: the baseline of Drape's uploads.

const { PORT, PROBE_PORT } = process.env

createServer((request, response) => {
  const hash = createHash('sha256')
  const form = new Busboy({ headers: { ...request.headers, 'content-type': request.headers['content-type'] ?? '' } })
  form.on('file', (_, file) => file.on('data', (chunk) => hash.update(chunk)))
  form.on('finish', () => response.end(JSON.stringify({ hash: hash.digest('hex') })))
  request.pipe(form)
}).listen(Number(PORT))
createServer((_, response) => response.end('ready')).listen(Number(PROBE_PORT))
process.on('SIGTERM', () => process.exit(0))
