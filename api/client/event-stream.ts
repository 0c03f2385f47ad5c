/**
 * The data of each server-sent event of a response, until it ends.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export async function* readEvents(body: ReadableStream<Uint8Array>, onBytes: () => void): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onBytes()
      const blocks = (rest + decoder.decode(value, { stream: true })).replaceAll('\r\n', '\n').split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const data = dataOf(block)
        if (data !== null) yield data
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function dataOf(block: string): string | null {
  const lines = block.split('\n').filter((line) => line.startsWith('data:'))
  return lines.length === 0 ? null : lines.map((line) => line.slice('data:'.length).replace(/^ /, '')).join('\n')
}
