import { setTimeout as sleep } from 'node:timers/promises'
import { formOf, readSample } from '../../support/drape.ts'

export interface Generation {
  readonly generationId: string
  readonly status: string
  readonly errorCode?: string | null
  readonly errorMessage?: string | null
  readonly resultImageUrl?: string
  readonly engine?: { readonly name: string }
}

/** A caller of an installed Drape. */
export interface Shop {
  /** Posts a try-on of a real image, for a customer or for none; the engine `mock` is done at once. */
  tryOn(engine?: string, customer?: string): Promise<string>
  read(id: string): Promise<Generation>
  /** Erases a customer and returns the status of the answer. */
  erase(customer: string): Promise<number>
  /** Resolves when it has ended. As a caller does, it asks again after a 503. */
  finish(id: string): Promise<Generation>
}

const POLL_MS = 500

export function createShop(url: string, apiKey: string): Shop {
  const headers = { 'x-api-key': apiKey }
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${url}/tryon/v1/${path}`, { ...init, headers })
    const text = await answer.text()
    if (!answer.ok)
      throw Object.assign(new Error(`${path} answered ${answer.status}: ${text}`), { status: answer.status })
    return JSON.parse(text) as Generation
  }
  const read = (id: string) => ask(`generations/${id}`)
  return {
    tryOn: async (engine = 'warp', customer) =>
      (await ask('try-on', { method: 'POST', body: await tryOnForm(engine, customer) })).generationId,
    read,
    erase: async (customer) =>
      (await fetch(`${url}/tryon/v1/customers/${customer}`, { method: 'DELETE', headers })).status,
    finish: async (id) => {
      for (;;) {
        const generation = await read(id).catch((error) => {
          if (error.status !== undefined && error.status !== 503) throw error
          return null
        })
        if (generation?.status === 'COMPLETED' || generation?.status === 'FAILED') return generation
        await sleep(POLL_MS)
      }
    },
  }
}

/** A slow machine would otherwise accept more than it completes, and jobs end after minutes without a worker. */
const MAX_UNFINISHED = 5

/** Sends requests until it is stopped, and counts refused requests. */
export function startCalling(shop: Shop): { stop: () => Promise<{ accepted: string[]; refused: string[] }> } {
  const accepted: string[] = []
  const refused: string[] = []
  let stopped = false
  const call = async (engine: 'warp' | 'mock', pauseMs: number) => {
    const unfinished: Promise<unknown>[] = []
    while (!stopped) {
      await shop.tryOn(engine).then(
        (id) => {
          accepted.push(id)
          unfinished.push(shop.finish(id))
        },
        (error: Error) => refused.push(`${error.message} ${error.cause ?? ''}`),
      )
      if (unfinished.length >= MAX_UNFINISHED) await unfinished.shift()
      await sleep(pauseMs)
    }
    await Promise.all(unfinished)
  }
  const calling = [call('mock', 200), call('warp', 2000)]
  return {
    stop: async () => {
      stopped = true
      await Promise.all(calling)
      return { accepted, refused }
    },
  }
}

async function tryOnForm(engine: string, externalUserId?: string): Promise<FormData> {
  const products = [{ title: 'T-shirt', images: [{ source: { fileKey: 'garment' } }] }]
  const person = { image: { source: { fileKey: 'person' } } }
  return formOf(
    { products, person, output: { engine }, externalUserId },
    {
      person: await readSample('persons/down-half-teal.jpg'),
      garment: await readSample('garments/tshirt-navy.jpg'),
    },
  )
}
