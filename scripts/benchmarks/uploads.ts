import { randomUUID } from 'node:crypto'
import type { Bench, Stack } from './bench.ts'
import type { Benchmark } from './benchmark.ts'
import { measureGrowth } from './memory.ts'
import { alternate } from './rounds.ts'
import { heavyPhoto, unreadableFile } from './sample-photos.ts'
import { bySize } from './size.ts'

const BARE = 'scripts/benchmarks/upload-process.ts'
const UPLOADS = bySize({ smallest: 1, usual: 8 })
const AT_ONCE = bySize({ smallest: 2, usual: 32 })

export const uploadTime: Benchmark = {
  id: 'P6',
  what: 'an upload of 10 MB, stored and hashed, against a bare busboy that hashes it',
  unit: 'ms',
  better: 'lower',
  goal: 1.6,
  measure: async (bench) => {
    const stack = await bench.startStack()
    const bare = await bench.startBare(BARE)
    const file = unreadableFile()
    const timed = async (send: () => Promise<Response>) => {
      const started = performance.now()
      for (let i = 0; i < UPLOADS; i++) await (await send()).text()
      return (performance.now() - started) / UPLOADS
    }
    return alternate({
      // A file in an unknown field is rejected after it has been stored and hashed.
      ours: () => timed(() => upload(stack, file, { status: 400, field: 'unasked' })),
      anchor: () => timed(() => fetch(bare.url, { method: 'POST', body: formOf(file, 'file') })),
      better: 'lower',
    })
  },
}

export const uploadMemory: Benchmark = {
  id: 'P7',
  what: `memory by which the API grows with ${AT_ONCE} photos of 10 MB sent concurrently, against their size`,
  unit: 'MB',
  better: 'lower',
  goal: 0.5,
  measure: async (bench) => measureTogether(bench, await heavyPhoto(), 201),
}

export const uploadCopies: Benchmark = {
  id: 'C8',
  what: `copies in memory of each of ${AT_ONCE} files of 10 MB that are sent concurrently, stored, hashed and rejected`,
  unit: 'MB',
  better: 'lower',
  goal: 1,
  measure: (bench) => measureTogether(bench, unreadableFile(), 400),
}

async function measureTogether(bench: Bench, file: Buffer, status: number): Promise<{ ours: number; anchor: number }> {
  const stack = await bench.startStack()
  // Excludes the fixed memory of a process.
  for (let i = 0; i < 3; i++) await upload(stack, file, { status })
  const together = () => Promise.all(Array.from({ length: AT_ONCE }, () => upload(stack, file, { status })))
  const grown = await measureGrowth(stack.api.pid, together)
  return { ours: grown / 1e6, anchor: (AT_ONCE * file.length) / 1e6 }
}

/** With an Idempotency-Key, which requires the hash of the file. */
async function upload(
  { api, apiKey }: Stack,
  file: Buffer,
  { status, field = 'file' }: { status: number; field?: string },
): Promise<Response> {
  const headers = { 'x-api-key': apiKey, 'idempotency-key': randomUUID() }
  const response = await fetch(`${api.url}/tryon/v1/images/upload`, {
    method: 'POST',
    headers,
    body: formOf(file, field),
  })
  if (response.status !== status) throw new Error(`${response.status} ${await response.text()}`)
  return response
}

function formOf(file: Buffer, field: string): FormData {
  const form = new FormData()
  form.set(field, new Blob([new Uint8Array(file)]))
  return form
}
