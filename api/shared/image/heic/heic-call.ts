import { HeicRefusal } from './heic-bitmap.ts'
import type { Libheif } from './libheif.ts'

/** `heif_error_Memory_allocation_error`. */
const MEMORY_ERROR = 6

/** Runs `work`, then frees the memory and the objects of the library that it used. */
export function within<T>(heif: Libheif, work: (call: Call) => T): T {
  const call = new Call(heif)
  try {
    return work(call)
  } finally {
    call.end()
  }
}

/** Memory and objects of the library in use by one decoding. */
export class Call {
  readonly heif: Libheif
  readonly #undos: (() => void)[] = []
  readonly #error: number
  readonly #answer: number

  constructor(heif: Libheif) {
    this.heif = heif
    this.#error = this.allocate(12)
    this.#answer = this.allocate(4)
  }

  onEnd(undo: () => void): void {
    this.#undos.push(undo)
  }

  end(): void {
    for (const undo of this.#undos.reverse()) undo()
  }

  allocate(bytes: number): number {
    const pointer = this.heif._malloc(bytes)
    if (pointer === 0) throw new HeicRefusal('too large', 'Not enough memory')
    this.onEnd(() => this.heif._free(pointer))
    return pointer
  }

  store(bytes: Uint8Array): number {
    const pointer = this.allocate(bytes.length)
    this.heif.HEAPU8.set(bytes, pointer)
    return pointer
  }

  read(pointer: number, bytes: number): Buffer<ArrayBuffer> {
    return Buffer.from(this.heif.HEAPU8.buffer, pointer, bytes)
  }

  /** Returns the value that a library function writes to its last pointer argument. */
  invoke(run: (error: number, answer: number) => void): number {
    run(this.#error, this.#answer)
    const error = this.read(this.#error, 12)
    const code = error.readUInt32LE(0)
    if (code !== 0) {
      throw new HeicRefusal(code === MEMORY_ERROR ? 'too large' : 'damaged', this.#textAt(error.readUInt32LE(8)))
    }
    return this.read(this.#answer, 4).readUInt32LE(0)
  }

  #textAt(pointer: number): string {
    const text = this.read(pointer, 200)
    return text.toString('latin1', 0, text.indexOf(0)).trim()
  }
}
