/** A server-sent event or comment. */
export interface ReceivedEvent {
  readonly id: string | null
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what the service says, whatever its shape is
  readonly data: any
}

/** The events of a `text/event-stream` response until its end, without comments. */
export async function* readEvents(response: Response): AsyncGenerator<ReceivedEvent, void, undefined> {
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString('utf8')
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const fields = new Map(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => line.split(/: ?(.*)/s, 2) as [string, string]),
      )
      text = text.slice(end + 2)
      const data = fields.get('data')
      if (data !== undefined) yield { id: fields.get('id') ?? null, data: JSON.parse(data) }
    }
  }
}
