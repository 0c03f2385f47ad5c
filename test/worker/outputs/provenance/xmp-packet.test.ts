import { describe, expect, it } from 'vitest'
import { decodeImage, encodeImage } from '../../../../api/shared/image/image.ts'
import { MOCK_MANIFEST } from '../../../../worker/engines/mock.ts'
import { provenancePacket } from '../../../../worker/outputs/provenance/xmp-packet.ts'

const bitmap = { width: 70, height: 70, channels: 3 as const, data: new Uint8Array(70 * 70 * 3).fill(90) }

describe('provenance', () => {
  it.each([
    ['photo', 'compositeWithTrainedAlgorithmicMedia'],
    ['preview', 'composite'],
    ['test', 'algorithmicallyEnhanced'],
  ] as const)('marks results of the kind %s as %s', (kind, sourceType) => {
    const packet = provenancePacket({ ...MOCK_MANIFEST, kind })
    expect(packet).toContain(
      `Iptc4xmpExt:DigitalSourceType="http://cv.iptc.org/newscodes/digitalsourcetype/${sourceType}"`,
    )
    expect(packet).toContain('Drape mock 1.0.0')
  })

  it('keeps names with special characters inside their attribute', () => {
    const packet = provenancePacket({ ...MOCK_MANIFEST, name: 'a"<&' })
    expect(packet).toContain('xmp:CreatorTool="Drape a&quot;&lt;&amp; 1.0.0"')
  })

  it.each(['jpeg', 'webp'] as const)('is embedded in a %s without changing pixels', async (format) => {
    const xmp = provenancePacket(MOCK_MANIFEST)
    const bytes = await encodeImage(bitmap, { format, xmp })
    expect(bytes.toString('latin1')).toContain('digitalsourcetype/algorithmicallyEnhanced')
    const back = await decodeImage(bytes)
    expect([back.width, back.height, Math.abs(back.data[0] - 90) <= 1]).toEqual([70, 70, true])
  })
})
