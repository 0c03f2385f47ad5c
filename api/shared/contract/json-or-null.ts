/** The value of a JSON text; null if the text is not JSON, for texts that other processes write. */
export function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
