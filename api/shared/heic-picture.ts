/** A picture upright, in sRGB, 8 bits, interleaved RGB or RGB with straight alpha. */
export interface DecodedHeic {
  readonly width: number
  readonly height: number
  readonly channels: 3 | 4
  readonly data: Uint8Array
}

/** What is wrong with a file, in the words of the library. Any other error leaves the library unusable. */
export class HeicRefusal extends Error {
  readonly reason: 'damaged' | 'too large'

  constructor(reason: HeicRefusal['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}
