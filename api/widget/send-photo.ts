import { Failure } from './failure.ts'
import { readAnswer } from './shop.ts'

/** Timeout without upload progress. */
const SILENCE_MS = 30_000

export interface PhotoRequest {
  readonly method: 'PUT' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Blob | FormData
  /** Called with the share that has been sent, 0 to 1. */
  readonly onProgress: (part: number) => void
  readonly signal: AbortSignal
}

/** Sends a photo and returns the response. Not with fetch, which has no upload progress. Throws a `Failure`. */
export function sendPhoto<T>({ method, url, headers, body, onProgress, signal }: PhotoRequest): Promise<T> {
  const request = new XMLHttpRequest()
  return new Promise<T>((resolve, reject) => {
    const fail = () => reject(new Failure('NETWORK'))
    const stop = () => request.abort()
    let silence = setTimeout(stop, SILENCE_MS)
    request.upload.onprogress = ({ loaded, total, lengthComputable }) => {
      clearTimeout(silence)
      silence = setTimeout(stop, SILENCE_MS)
      if (lengthComputable) onProgress(loaded / total)
    }
    request.onerror = fail
    request.onabort = fail
    // Where the photo went, a redirect may have sent it elsewhere: that host's answer must not count.
    request.onload = () => {
      if (request.responseURL !== new URL(url, document.baseURI).href) return fail()
      try {
        resolve(readAnswer(request.status, request.responseText, request.getResponseHeader('retry-after')))
      } catch (error) {
        reject(error)
      }
    }
    request.onloadend = () => {
      clearTimeout(silence)
      signal.removeEventListener('abort', stop)
    }
    signal.addEventListener('abort', stop)
    request.open(method, url)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.send(body)
  })
}
