import {
  type CallToolResult,
  fromJsonSchema,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
import {
  type DrapeClient,
  DrapeConnectionError,
  DrapeGenerationError,
  DrapeTimeoutError,
  type Generation,
  isApiError,
} from '../../../api/client/node.ts'
import { DrapeError } from '../../../api/shared/contract/errors.ts'
import type { Static, TSchema } from '../../../api/shared/contract/schema.ts'
import { describeAnswer } from './answers.schema.ts'
import { readSource } from './image-source.ts'
import { createFileFinder } from './readable-files.ts'
import { ListProductsInput, OutfitToolInput, ReadCreditsInput, TryOnToolInput, WaitInput } from './tools.schema.ts'

const INSTRUCTIONS =
  `Drape shows how a person looks in a product. Call try_on with a photo of a person and an image of a product, then
wait_for_generation with its generationId, which returns the image and its address as a resource. A try-on costs the credits of its engine for each
image, refunded if it fails; the engine mock is free and returns the photo. Paths are absolute or relative to your folder. Use list_products for products of the
catalogue. Errors have a code and say what to do; retry after retryAfter seconds where it is given.`.replaceAll(
    '\n',
    ' ',
  )

/** The MCP tools for try-ons: each is a call of the client. Results are resources. */
export function createMcpServer({
  client,
  version,
  env,
}: {
  client: DrapeClient
  version: string
  env: NodeJS.ProcessEnv
}): McpServer {
  const server = new McpServer({ name: 'drape', version }, { instructions: INSTRUCTIONS })
  const find = createFileFinder(server, env)
  const add = <S extends TSchema>(name: string, tool: Tool<S>) =>
    server.registerTool(
      name,
      {
        title: tool.title,
        description: tool.description,
        inputSchema: fromJsonSchema<Static<S>>(JSON.parse(JSON.stringify(tool.input))),
        outputSchema: fromJsonSchema<object>(describeAnswer(tool.output)),
        annotations: { readOnlyHint: tool.readOnly, destructiveHint: false, openWorldHint: true },
      },
      (input: Static<S>, context: ServerContext) => tool.run(input, { client, context, find }).catch(describeFailure),
    )
  add('try_on', tryOn)
  add('try_on_outfit', tryOnOutfit)
  add('wait_for_generation', waitForGeneration)
  add('list_products', listProducts)
  add('read_credits', readCredits)
  addResults(server, client)
  return server
}

interface Tool<S extends TSchema> {
  readonly title: string
  readonly description: string
  readonly input: S
  readonly output: Parameters<typeof describeAnswer>[0]
  readonly readOnly: boolean
  run(input: Static<S>, around: Around): Promise<CallToolResult>
}

interface Around {
  readonly client: DrapeClient
  readonly context: ServerContext
  /** Resolves a path of the caller to a file. */
  readonly find: (path: string) => Promise<string>
}

const tryOn: Tool<typeof TryOnToolInput> = {
  title: 'Try on',
  description:
    'Requests an image of the person wearing the product, or output.count images at the price of as many try-ons. What fails is refunded. ' +
    'Returns immediately with a generationId for wait_for_generation.',
  input: TryOnToolInput,
  output: 'AcceptedTryOn',
  readOnly: false,
  run: async ({ person, product, output }, { client, context, find }) => {
    const described = await describeProduct(product, { field: 'product', find })
    const accepted = await client.tryOn(
      {
        person: await describePhoto(person, 'person', find),
        product: described,
        output: output && (await describeOutput(output, find)),
      },
      { signal: context.mcpReq.signal },
    )
    return answerWith(accepted)
  },
}

const tryOnOutfit: Tool<typeof OutfitToolInput> = {
  title: 'Try on an outfit',
  description:
    'Requests one image of the person wearing 2 to 4 products, for example trousers, a T-shirt and an open jacket. Costs a try-on for ' +
    'each product, or one in all if the account says so. Returns as try_on does.',
  input: OutfitToolInput,
  output: 'AcceptedOutfit',
  readOnly: false,
  run: async ({ person, products, partial, output }, { client, context, find }) => {
    const described = []
    for (const [i, product] of products.entries())
      described.push(await describeProduct(product, { field: `products[${i}]`, find }))
    const accepted = await client.outfit(
      { person: await describePhoto(person, 'person', find), products: described, partial, output },
      { signal: context.mcpReq.signal },
    )
    return answerWith(accepted)
  },
}

type TryOnInput = Static<typeof TryOnToolInput>

async function describePhoto({ id, ...photo }: TryOnInput['person'], field: string, find: Around['find']) {
  return id === undefined ? readSource(photo, { field, find }) : { id }
}

async function describeOutput({ mask, ...output }: NonNullable<TryOnInput['output']>, find: Around['find']) {
  return {
    ...output,
    ...(mask && { mask: { ...mask, image: await describePhoto(mask.image, 'output.mask.image', find) } }),
  }
}

async function describeProduct<P extends TryOnInput['product']>(
  { image, ...fields }: P,
  { field, find }: { readonly field: string; readonly find: Around['find'] },
) {
  return { ...fields, ...(image && { images: [await readSource(image, { field: `${field}.image`, find })] }) }
}

const waitForGeneration: Tool<typeof WaitInput> = {
  title: 'Wait for a generation',
  description:
    'Waits until the generation has finished and returns its image. If it has not finished in time, call the tool again.',
  input: WaitInput,
  output: 'Generation',
  readOnly: true,
  run: async ({ generationId, timeoutSeconds = 50 }, { client, context }) => {
    const { signal } = context.mcpReq
    const onProgress = (generation: Generation) => void reportProgress(generation, context)
    const waiting = client.generations.wait(generationId, { signal, onProgress, timeout: timeoutSeconds * 1000 })
    const ended = await waiting.catch((error) => {
      if (error instanceof DrapeTimeoutError) return null
      throw error
    })
    if (!ended) return answerWith(await client.generations.get(generationId, { signal }))
    return showImage(ended, await client.generations.download(generationId, { signal }))
  },
}

const listProducts: Tool<typeof ListProductsInput> = {
  title: 'List products',
  description: 'One page of the catalog; nextCursor leads to the next one.',
  input: ListProductsInput,
  output: 'ProductList',
  readOnly: true,
  run: async (input, { client, context }) =>
    answerWith(await client.products.list({ ...input, signal: context.mcpReq.signal })),
}

const readCredits: Tool<typeof ReadCreditsInput> = {
  title: 'Read credits',
  description: 'Remaining credits of the account.',
  input: ReadCreditsInput,
  output: 'Credits',
  readOnly: true,
  run: async (_, { client, context }) => answerWith(await client.account.credits({ signal: context.mcpReq.signal })),
}

function answerWith(answer: object): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: { ...answer } }
}

const RESULT = 'drape://generations/{generationId}/result'

/** Result images of completed generations, for clients that fetch them on demand. */
function addResults(server: McpServer, client: DrapeClient): void {
  const template = new ResourceTemplate(RESULT, { list: undefined })
  const about = { title: 'Result', description: 'The image of a completed generation.' }
  server.registerResource('result', template, about, async (uri, { generationId }, { mcpReq: { signal } }) => {
    const image = await client.generations.download(String(generationId), { signal })
    if (!image) throw new Error(`${uri} has no image: the generation has not completed, or the image has expired.`)
    return { contents: [{ uri: uri.href, mimeType: image.type, blob: await toBase64(image) }] }
  })
}

async function toBase64(image: Blob): Promise<string> {
  return Buffer.from(await image.arrayBuffer()).toString('base64')
}

/** Clients of this protocol accept messages of at most 10 MB; base64 is a third longer than the bytes. */
const MAX_BYTES = 7_000_000

async function showImage(generation: Generation, result: Blob | null): Promise<CallToolResult> {
  const answer = answerWith(generation)
  if (!result) return answer
  const uri = RESULT.replace('{generationId}', generation.generationId)
  const link = { type: 'resource_link' as const, uri, name: 'result', mimeType: result.type }
  const image = { type: 'image' as const, data: await toBase64(result), mimeType: result.type }
  const shown = result.size > MAX_BYTES ? [link] : [image, link]
  return { ...answer, content: [...shown, ...answer.content] }
}

/** Sends progress only to clients that request it. A disconnected client is not an error of the generation. */
async function reportProgress({ status, progress = 0 }: Generation, { mcpReq }: ServerContext): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return
  const params = { progressToken, progress: status === 'COMPLETED' ? 1 : progress, total: 1, message: status }
  await mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
}

/** Describes errors that an assistant can act on; returns null for internal errors. */
function describeFailure(error: unknown): CallToolResult {
  const failure = failureOf(error)
  if (!failure) throw error
  return { isError: true, content: answerWith(failure).content }
}

function failureOf(error: unknown): object | null {
  if (isApiError(error)) {
    const { code, message, details, requestId, retryAfter } = error
    return { code, message, details, requestId, ...(retryAfter !== null && { retryAfter }) }
  }
  if (error instanceof DrapeGenerationError) return { code: error.code, message: error.message, ...error.generation }
  if (error instanceof DrapeError) return { code: error.code, message: error.message, details: error.details }
  if (error instanceof DrapeConnectionError || error instanceof DrapeTimeoutError) {
    return { code: error.name, message: error.message }
  }
  return null
}
