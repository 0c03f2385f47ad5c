/**
 * Reads at most `maxBytes` of a response body, and cancels the rest: another program can send without end. `isCut`: the body is longer.
 * @throws the error of the body
 */
export async function readBounded(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop cancels the body.
  for await (const chunk of body ?? []) {
    const room = maxBytes - size
    size += chunk.byteLength
    if (size > maxBytes) return { bytes: Buffer.concat([...chunks, chunk.subarray(0, room)]), isCut: true }
    chunks.push(chunk)
  }
  return { bytes: Buffer.concat(chunks), isCut: false }
}
