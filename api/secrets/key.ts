/** A key that encrypts data keys, held by this process or by a key service. */
export interface KeyEncryptionKey {
  /** ID of the key in stored secrets: letters, digits, `-` and `_`, at most 64. */
  readonly id: string
  wrap(dataKey: Buffer): Promise<Buffer>
  unwrap(wrapped: Buffer): Promise<Buffer>
}
