import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createSite } from '../../api/guide/site.ts'
import { ROUTES } from '../../api/http/core-routes.ts'
import { createDocument } from '../../api/http/openapi/document.ts'
import { ROOT } from '../stack/session.ts'

// Writes the documentation site into a folder, for any web server that serves `webhooks.html` for `/guide/webhooks`.
// Usage: guide.ts [FOLDER], default .cache/docs. PUBLIC_URL is the base URL in llms.txt.

const folder = resolve(process.argv[2] ?? join(ROOT, '.cache/docs'))
const names = { serviceName: 'Drape', publicUrl: process.env.PUBLIC_URL ?? '' }
const site = createSite({ ...names, document: createDocument(ROUTES, names) })
for (const [path, { type, body }] of site) {
  const target = join(folder, type === 'text/html' ? `${path}.html` : path)
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, body)
}
console.log(`${site.size} files in ${folder}`)
