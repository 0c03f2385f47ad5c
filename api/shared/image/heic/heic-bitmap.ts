/** Decoded HEIC: upright, sRGB, 8 bits, interleaved RGB or RGB with straight alpha. */
export interface DecodedHeic {
  readonly width: number
  readonly height: number
  readonly channels: 3 | 4
  readonly data: Uint8Array
}

/** Refusal of a file, with the message of the library. After any other error the library is unusable. */
export class HeicRefusal extends Error {
  readonly reason: 'damaged' | 'too large'

  constructor(reason: HeicRefusal['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}
