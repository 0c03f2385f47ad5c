import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A verification endpoint like those of Turnstile, hCaptcha and reCAPTCHA. It confirms the response `solved`. */
export async function startCaptchaProvider() {
  const asked: URLSearchParams[] = []
  const server = createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request))
    asked.push(form)
    if (form.get('response') === 'broken') return void response.writeHead(500).end()
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ success: form.get('response') === 'solved', 'error-codes': [] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/siteverify`, asked, stop: () => void server.close() }
}
