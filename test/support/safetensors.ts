/** The position of a tensor in a safetensors file. */
export interface TensorEntry {
  readonly dtype: string
  readonly shape: readonly number[]
  /** Of its first byte and the one after its last, from the end of the header. */
  readonly data_offsets: readonly [number, number]
}

/** The bytes of a safetensors file with a changed header and unchanged numbers. */
export function changeHeader(
  file: Buffer,
  change: (tensors: Readonly<Record<string, TensorEntry>>) => Readonly<Record<string, TensorEntry>>,
): Buffer {
  const end = 8 + Number(file.readBigUInt64LE())
  const { __metadata__, ...tensors } = JSON.parse(file.subarray(8, end).toString())
  const header = Buffer.from(JSON.stringify({ __metadata__, ...change(tensors) }))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  return Buffer.concat([length, header, file.subarray(end)])
}

/** The bytes of a safetensors file without its last tensor. */
export function dropLast(file: Buffer): Buffer {
  let dropped = 0
  const rest = changeHeader(file, (tensors) => {
    const entries = Object.entries(tensors).sort(([, a], [, b]) => a.data_offsets[0] - b.data_offsets[0])
    const [start, end] = entries.pop()?.[1].data_offsets ?? [0, 0]
    dropped = end - start
    return Object.fromEntries(entries)
  })
  return rest.subarray(0, rest.length - dropped)
}

/** The bytes of a safetensors file with another first number of a tensor of 32-bit floats. */
export function changeFirst(file: Buffer, name: string, value: number): Buffer {
  const end = 8 + Number(file.readBigUInt64LE())
  const entry: TensorEntry = JSON.parse(file.subarray(8, end).toString())[name]
  const changed = Buffer.from(file)
  changed.writeFloatLE(value, end + entry.data_offsets[0])
  return changed
}

/** A safetensors file of 32-bit floats with every number truncated to bfloat16: as 32-bit floats, and as bfloat16. */
export function cutToBfloat16(file: Buffer): { wide: Buffer; narrow: Buffer } {
  const end = 8 + Number(file.readBigUInt64LE())
  const wide = Buffer.from(file)
  const narrow = Buffer.alloc((file.length - end) / 2)
  for (let i = 0; i < narrow.length / 2; i++) {
    const upper = file.readUInt16LE(end + 4 * i + 2)
    wide.writeUInt32LE(upper * 65536, end + 4 * i)
    narrow.writeUInt16LE(upper, 2 * i)
  }
  const header = changeHeader(file.subarray(0, end), (tensors) =>
    Object.fromEntries(
      Object.entries(tensors).map(
        ([
          name,
          {
            shape,
            data_offsets: [start, stop],
          },
        ]) => [name, { dtype: 'BF16', shape, data_offsets: [start / 2, stop / 2] }],
      ),
    ),
  )
  return { wide, narrow: Buffer.concat([header, narrow]) }
}

/** The tensors of 32-bit floats of a safetensors file, by name. */
export function readFloats(
  file: Buffer,
): Record<string, { shape: readonly number[]; data: Float32Array<ArrayBuffer> }> {
  const end = 8 + Number(file.readBigUInt64LE())
  const { __metadata__, ...tensors } = JSON.parse(file.subarray(8, end).toString()) as Record<string, TensorEntry>
  const floats = Object.entries(tensors).filter(([, { dtype }]) => dtype === 'F32')
  return Object.fromEntries(
    floats.map(
      ([
        name,
        {
          shape,
          data_offsets: [start, stop],
        },
      ]) => {
        // A copy, because numbers in a file may not be aligned for a Float32Array.
        const bytes = new Uint8Array(file.subarray(end + start, end + stop))
        return [name, { shape, data: new Float32Array(bytes.buffer) }]
      },
    ),
  )
}

/** The bytes of one tensor of a safetensors file. */
export function readBytes(file: Buffer, name: string): Uint8Array {
  const end = 8 + Number(file.readBigUInt64LE())
  const entry: TensorEntry = JSON.parse(file.subarray(8, end).toString())[name]
  return file.subarray(end + entry.data_offsets[0], end + entry.data_offsets[1])
}
