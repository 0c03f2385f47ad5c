const WIDTH = 30
const LINE_EVERY_MS = 5000

export interface Progress {
  /** `share` is 0 to 1. */
  show(share: number, text: string): void
  end(text: string): void
}

/** A progress bar on a terminal; otherwise a line at intervals. */
export function createProgress(stream: NodeJS.WriteStream, now = Date.now): Progress {
  let lastLineAt = Number.NEGATIVE_INFINITY
  return {
    show: (share, text) => {
      const percent = `${Math.floor(share * 100)} %`
      if (stream.isTTY) {
        const filled = Math.round(share * WIDTH)
        stream.write(`\r\x1b[K[${'█'.repeat(filled)}${' '.repeat(WIDTH - filled)}] ${percent} ${text}`)
      } else if (now() - lastLineAt >= LINE_EVERY_MS) {
        lastLineAt = now()
        stream.write(`${percent} ${text}\n`)
      }
    },
    end: (text) => stream.write(stream.isTTY ? `\r\x1b[K${text}\n` : `${text}\n`),
  }
}
