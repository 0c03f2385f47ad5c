import { assertStorable } from '../../http/bodies/bounded-json.ts'
import { DrapeError, type FieldProblem } from '../../shared/contract/errors.ts'
import { parseIsoTime } from '../../shared/contract/iso-time.ts'
import type { Check } from '../../shared/contract/schema.ts'
import type { NewEvent } from './events.store.ts'

/** An event as sent by the client. */
interface SentEvent {
  readonly event: string
  readonly properties?: Readonly<Record<string, unknown>>
  readonly timestamp: string
  readonly $insert_id: string
}

export interface BatchShape<Context> {
  readonly checkEvent: Check<SentEvent>
  readonly checkContext: Check<Context>
  /** Fields of the context to keep. */
  readonly contextFields: readonly string[]
  readonly maxEvents: number
}

export interface ReadBatch<Context> {
  readonly context: Context
  /** Valid events. */
  readonly events: readonly NewEvent[]
  /** Count of invalid events. */
  readonly refused: number
  /** Problem of the first invalid event. */
  readonly problem: FieldProblem | null
}

const MAX_PROPERTY_BYTES = 8192

/** Reads a batch and skips invalid events. Throws `VALIDATION_FAILED` when the batch itself is invalid. */
export function readBatch<Context>(body: unknown, shape: BatchShape<Context>): ReadBatch<Context> {
  const { events: sent, context } = fieldsOf(body)
  if (!Array.isArray(sent)) throw invalid({ path: 'events', message: 'must be an array' })
  if (sent.length === 0 || sent.length > shape.maxEvents) {
    throw invalid({ path: 'events', message: `must have 1 to ${shape.maxEvents} items` })
  }
  const checked = shape.checkContext(context ?? {})
  if (!checked.ok) throw invalid(placed('context', checked.problems[0]))
  const known = pick(checked.value, shape.contextFields)
  assertStorable(known, 'context')
  const read = sent.map((event) => readEvent(event, shape))
  const events = read.filter((event) => 'insertId' in event)
  const first = read.findIndex((event) => 'message' in event)
  return {
    context: known,
    events,
    refused: read.length - events.length,
    problem: first < 0 ? null : placed(`events[${first}]`, read[first] as FieldProblem),
  }
}

function pick<Context>(context: Context, names: readonly string[]): Context {
  const entries = Object.entries(context as object)
  return Object.fromEntries(entries.filter(([name]) => names.includes(name))) as Context
}

function fieldsOf(body: unknown): { events?: unknown; context?: unknown } {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    throw invalid({ path: '', message: 'must be a JSON object with events and context' })
  }
  return body
}

function readEvent<Context>(event: unknown, { checkEvent }: BatchShape<Context>): NewEvent | FieldProblem {
  const checked = checkEvent(event)
  if (!checked.ok) return checked.problems[0]
  const { event: name, properties = {}, timestamp, $insert_id: insertId } = checked.value
  try {
    assertStorable({ $insert_id: insertId, properties }, '')
  } catch (error) {
    return problemsOf(error)[0]
  }
  const happenedAt = new Date(parseIsoTime(timestamp).start)
  const json = JSON.stringify(properties)
  if (Buffer.byteLength(json) > MAX_PROPERTY_BYTES) return { path: 'properties', message: 'is larger than 8 KB' }
  return { name, insertId, happenedAt, properties: json, ...referencesOf(properties) }
}

/** The product and the generation that an event's properties name. */
function referencesOf(properties: Readonly<Record<string, unknown>>) {
  return {
    productId: idOf(properties.product_id ?? properties.productId),
    generationId: idOf(properties.generation_id ?? properties.generationId),
  }
}

function idOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= 255 ? value : null
}

function problemsOf(error: unknown): readonly FieldProblem[] {
  if (error instanceof DrapeError && Array.isArray(error.details)) return error.details
  throw error
}

function placed(place: string, { path, message }: FieldProblem): FieldProblem {
  return { path: path === '' || path.startsWith('[') ? `${place}${path}` : `${place}.${path}`, message }
}

function invalid(problem: FieldProblem): DrapeError {
  return new DrapeError('VALIDATION_FAILED', 'The batch is not valid.', { details: [problem] })
}
