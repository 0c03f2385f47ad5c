import { readFileSync } from 'node:fs'

/** Platform of a Linux program or library, and the libraries that it loads. */
export interface ElfFile {
  /** As in `process.arch`. */
  readonly cpu: 'x64' | 'arm64'
  /** File names of the libraries. */
  readonly needed: readonly string[]
  /** Absolute path of the loader; programs have one, libraries need not. */
  readonly interpreter?: string
}

const CPUS: Readonly<Record<number, ElfFile['cpu']>> = { 62: 'x64', 183: 'arm64' }
const PT_LOAD = 1
const PT_DYNAMIC = 2
const PT_INTERP = 3
const DT_NEEDED = 1
const DT_STRTAB = 5

interface Segment {
  readonly type: number
  readonly offset: number
  readonly address: number
  readonly size: number
}

/**
 * Reads a program or library, also one of a platform that this machine cannot run. The layout is that of elf(5).
 * @throws Error if it is not a 64-bit little-endian ELF file for x64 or arm64.
 */
export function readElf(path: string): ElfFile {
  const bytes = readFileSync(path)
  // 0x7f ELF, 64 bit, little-endian
  if (bytes.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') throw new Error(`${path} is not a 64-bit ELF file`)
  const cpu = CPUS[bytes.readUInt16LE(18)]
  if (cpu === undefined) throw new Error(`${path} is for another processor than x64 or arm64`)
  const segments = readSegments(bytes)
  const interpreter = segments.find(({ type }) => type === PT_INTERP)
  return {
    cpu,
    needed: readNeeded(bytes, segments),
    ...(interpreter && { interpreter: textAt(bytes, interpreter.offset) }),
  }
}

function readSegments(bytes: Buffer): Segment[] {
  const [start, size, count] = [Number(bytes.readBigUInt64LE(32)), bytes.readUInt16LE(54), bytes.readUInt16LE(56)]
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * size
    return {
      type: bytes.readUInt32LE(at),
      offset: Number(bytes.readBigUInt64LE(at + 8)),
      address: Number(bytes.readBigUInt64LE(at + 16)),
      size: Number(bytes.readBigUInt64LE(at + 32)),
    }
  })
}

function readNeeded(bytes: Buffer, segments: readonly Segment[]): string[] {
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC)
  if (dynamic === undefined) return []
  const entries = Array.from({ length: dynamic.size / 16 }, (_, index) => {
    const at = dynamic.offset + index * 16
    return { tag: Number(bytes.readBigInt64LE(at)), value: Number(bytes.readBigUInt64LE(at + 8)) }
  })
  const address = entries.find(({ tag }) => tag === DT_STRTAB)?.value ?? 0
  const holder = segments.find((each) => each.type === PT_LOAD && isWithin(address, each))
  if (holder === undefined) return []
  const strings = holder.offset + address - holder.address
  return entries.filter(({ tag }) => tag === DT_NEEDED).map(({ value }) => textAt(bytes, strings + value))
}

function isWithin(address: number, segment: Segment): boolean {
  return address >= segment.address && address < segment.address + segment.size
}

function textAt(bytes: Buffer, offset: number): string {
  return bytes.toString('latin1', offset, bytes.indexOf(0, offset))
}
