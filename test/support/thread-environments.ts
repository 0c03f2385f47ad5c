import { Session } from 'node:inspector/promises'

// Decodes a HEIC file, prepares a garment and strips types, each on its own thread, and prints the environment of every thread
// as a line of JSON.

const session = new Session()
session.connect()
const environments = new Map<string, PromiseWithResolvers<string>>()
session.on('NodeWorker.attachedToWorker', ({ params: { sessionId } }) => {
  environments.set(sessionId, Promise.withResolvers())
  const params = { expression: 'JSON.stringify(process.env)', returnByValue: true }
  session.post('NodeWorker.sendMessageToWorker', {
    sessionId,
    message: JSON.stringify({ id: 1, method: 'Runtime.evaluate', params }),
  })
})
session.on('NodeWorker.receivedMessageFromWorker', ({ params: { sessionId, message } }) => {
  const { id, result } = JSON.parse(message)
  if (id === 1) environments.get(sessionId)?.resolve(result.result.value)
})
await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })

const { decodeImage } = await import('../../api/shared/image/image.ts')
const { heicImage } = await import('./heic-images.ts')
const { createGarmentThread } = await import('../../worker/vision/garment/prepare-in-thread.ts')
const { stripTypes } = await import('../../api/playground/strip-types.ts')
const bitmap = await decodeImage(heicImage('single'))
await createGarmentThread(() => Promise.reject(new Error('no model is needed')))
  .prepare(bitmap, { category: 'tops', longest: 100 })
  .catch(() => {})
await stripTypes(['const a: number = 1'])
for (const environment of environments.values()) console.log(await environment.promise)
process.exit(0)
