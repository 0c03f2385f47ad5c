import { writeFile } from 'node:fs/promises'
import { createDrapeClient, readPicture } from '../../api/client/node.ts'
import type { Answer, FreeCommand } from './command.ts'
import { CheckFailure } from './failure.ts'
import { mandatory, type Options, option, required, requireWritable, UsageError } from './options.ts'
import { explained, readService } from './service.ts'

/** Calls of the client with the key DRAPE_API_KEY. */
export const tryOnCommands: Readonly<Record<string, FreeCommand>> = {
  'try-on': {
    summary: 'try a product on a person, wait, and store the result as a file; costs the credits of the engine',
    options: [
      mandatory('--person <file>', 'photo of the person'),
      mandatory('--product <file|id>', 'image of the product, or ID of a product of the catalogue'),
      option('--title <text>', 'title of the product'),
      option('--engine <name>', 'engine (default: that of the account)'),
      option('--output <file>', 'file for the result (default: result.jpg)'),
    ],
    run: tryOn,
  },
}

async function tryOn({ person, product, title, engine, output = 'result.jpg' }: Options): Promise<Answer> {
  await requireWritable(output)
  const drape = createDrapeClient(readService(process.env))
  const photo = await read(required(person, 'person'))
  const named = required(product, 'product')
  const isFile = /[./\\]/.test(named)
  const image = isFile ? { images: [await read(named)], ...(title !== undefined && { title }) } : named
  const call = drape.tryOn({ person: photo, product: image, output: { ...(engine !== undefined && { engine }) } })
  const { generationId } = await explained(call)
  console.error(`${generationId} is waiting …`)
  await explained(call.wait())
  const result = await explained(drape.generations.download(generationId))
  if (result === null) throw new CheckFailure(`The result of ${generationId} has expired`)
  await writeFile(output, Buffer.from(await result.arrayBuffer()))
  return { generationId, file: output, bytes: result.size }
}

async function read(path: string): Promise<Blob> {
  return readPicture(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code?.startsWith('E') ? new UsageError(`${path} cannot be read (${error.code})`) : error
  })
}
