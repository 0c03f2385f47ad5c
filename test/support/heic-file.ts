interface Extent {
  readonly width: number
  readonly height: number
}

/** The boxes of a HEIC file with one `ispe` property per extent, without pixels. `brands`: the major brand, then the compatible ones. */
export function heicFile(brands: readonly string[], extents: readonly Extent[]): Buffer {
  const [major, ...compatible] = brands
  const properties = box('ipco', box('hvcC', '1234'), ...extents.map(extentBox))
  return Buffer.concat([
    box('ftyp', major, '\0\0\0\0', ...compatible),
    box('meta', '\0\0\0\0', box('hdlr', 'pict'), box('iprp', properties)),
    box('mdat', 'pixels'),
  ])
}

/** A box of ISO/IEC 14496-12: size, type, content. */
export function box(type: string, ...content: readonly (string | Buffer)[]): Buffer {
  const body = Buffer.concat(content.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)))
  const header = Buffer.alloc(8)
  header.writeUInt32BE(body.length + 8)
  header.write(type, 4, 'latin1')
  return Buffer.concat([header, body])
}

function extentBox({ width, height }: Extent): Buffer {
  const content = Buffer.alloc(12)
  content.writeUInt32BE(width, 4)
  content.writeUInt32BE(height, 8)
  return box('ispe', content)
}
