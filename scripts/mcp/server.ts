import { type CallToolResult, fromJsonSchema, McpServer, type ServerContext } from '@modelcontextprotocol/server'
import {
  type DrapeClient,
  DrapeConnectionError,
  DrapeGenerationError,
  DrapeTimeoutError,
  type Generation,
  isApiError,
} from '../../api/client/node.ts'
import { DrapeError } from '../../api/shared/errors.ts'
import type { Static, TSchema } from '../../api/shared/schema.ts'
import { readSource } from './picture-source.ts'
import { ListProductsInput, ReadCreditsInput, TryOnToolInput, WaitInput } from './tools.schema.ts'

/** The tools by which an assistant dresses people: each is a call of the client. */
export function createMcpServer({ client, version }: { client: DrapeClient; version: string }): McpServer {
  const server = new McpServer({ name: 'drape', version })
  const add = <S extends TSchema>(name: string, tool: Tool<S>) =>
    server.registerTool(
      name,
      {
        title: tool.title,
        description: tool.description,
        inputSchema: fromJsonSchema<Static<S>>(JSON.parse(JSON.stringify(tool.input))),
        annotations: { readOnlyHint: tool.readOnly, destructiveHint: false, openWorldHint: true },
      },
      (input: Static<S>, context: ServerContext) => tool.run(input, { client, context }).catch(describeFailure),
    )
  add('try_on', tryOn)
  add('wait_for_generation', waitForGeneration)
  add('list_products', listProducts)
  add('read_credits', readCredits)
  return server
}

interface Tool<S extends TSchema> {
  readonly title: string
  readonly description: string
  readonly input: S
  readonly readOnly: boolean
  run(input: Static<S>, around: { client: DrapeClient; context: ServerContext }): Promise<CallToolResult>
}

const tryOn: Tool<typeof TryOnToolInput> = {
  title: 'Try on',
  description:
    'Asks for a picture of the person wearing the product. Costs one credit, which comes back if it fails. Answers at once with ' +
    'a generationId for wait_for_generation.',
  input: TryOnToolInput,
  readOnly: false,
  run: async ({ person: { id, ...photo }, product: { image, ...fields }, output }, { client, context }) => {
    const images = image && [await readSource(image, 'product.image')]
    const person = id === undefined ? await readSource(photo, 'person') : { id }
    const accepted = await client.tryOn(
      { person, product: { ...fields, ...(images && { images }) }, output },
      { signal: context.mcpReq.signal },
    )
    return answerWith(accepted)
  },
}

const waitForGeneration: Tool<typeof WaitInput> = {
  title: 'Wait for a generation',
  description:
    'Waits until the generation has ended and shows its picture. Where it has not ended in time, call it again.',
  input: WaitInput,
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
    return showPicture(ended, await client.generations.download(generationId, { signal }))
  },
}

const listProducts: Tool<typeof ListProductsInput> = {
  title: 'List products',
  description: 'One page of the catalog; nextCursor leads to the next one.',
  input: ListProductsInput,
  readOnly: true,
  run: async (input, { client, context }) =>
    answerWith(await client.products.list({ ...input, signal: context.mcpReq.signal })),
}

const readCredits: Tool<typeof ReadCreditsInput> = {
  title: 'Read credits',
  description: 'How many try-ons the account can still ask for.',
  input: ReadCreditsInput,
  readOnly: true,
  run: async (_, { client, context }) => answerWith(await client.account.credits({ signal: context.mcpReq.signal })),
}

function answerWith(answer: object): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(answer) }] }
}

/** Clients of this protocol take messages of at most 10 MB, and base64 is a third longer than the bytes. */
const MAX_BYTES = 7_000_000

async function showPicture(generation: Generation, picture: Blob | null): Promise<CallToolResult> {
  const answer = answerWith(generation)
  if (!picture || picture.size > MAX_BYTES) return answer
  const data = Buffer.from(await picture.arrayBuffer()).toString('base64')
  return { content: [{ type: 'image', data, mimeType: picture.type }, ...answer.content] }
}

/** Progress goes only to clients that ask for it; a client that has gone is no fault of the generation. */
async function reportProgress({ status, progress = 0 }: Generation, { mcpReq }: ServerContext): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return
  const params = { progressToken, progress: status === 'COMPLETED' ? 1 : progress, total: 1, message: status }
  await mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
}

/** What an assistant can act on; anything else is a fault of ours and stays one. */
function describeFailure(error: unknown): CallToolResult {
  const failure = failureOf(error)
  if (!failure) throw error
  return { isError: true, ...answerWith(failure) }
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
