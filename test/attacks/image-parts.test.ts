import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { decodeImage, normaliseImage } from '../../api/shared/image/image.ts'
import { readImageHeader } from '../../api/shared/image/image-format.ts'
import { toPlainPng } from '../../api/shared/image/plain-png.ts'
import { openAsset } from '../../api/shared/provenance/asset.ts'
import { insertSegments, jpegSegments, segment } from '../support/jpeg-segments.ts'
import { chunk, insertChunk, textPng } from '../support/odd-images.ts'

const image = (side: number) => sharp({ create: { width: side, height: side, channels: 3, background: '#a04020' } })

describe('images of many parts', () => {
  it('have text chunks of a PNG removed before inflation', async () => {
    const file = textPng(40)
    expect(file.length).toBeGreaterThan(250_000)
    expect(toPlainPng(file).length).toBeLessThan(2_000)
    expect(await normaliseImage(file)).toMatchObject({ width: 200, height: 200 })
  })

  it('have only the first of several profiles kept', async () => {
    const plain = await image(100).png().withIccProfile('p3').toBuffer()
    const profile = chunk('iCCP', Buffer.from('icc\0\0nonsense'))
    const end = plain.length - 12
    const twice = Buffer.concat([plain.subarray(0, end), profile, plain.subarray(end)])
    expect(Buffer.compare(toPlainPng(twice), toPlainPng(plain))).toBe(0)
    expect((await decodeImage(twice)).data).toEqual((await decodeImage(plain)).data)
  })

  it('are refused as PNG with more than 10,000 chunks to remove', async () => {
    const empty = Buffer.concat(Array.from({ length: 10_001 }, () => chunk('drAp', Buffer.alloc(0))))
    const file = insertChunk(await image(100).png().toBuffer(), empty)
    await expect(normaliseImage(file)).rejects.toMatchObject({ code: 'INVALID_IMAGE' })
  })

  it('are refused as JPEG with many scans before decoding, or with more than 10,000 segments', async () => {
    const progressive = await image(6000).jpeg({ progressive: true }).toBuffer()
    const parts = jpegSegments(progressive)
    const last = parts.findLastIndex((part) => part[1] === 0xda)
    const file = Buffer.concat([...parts.slice(0, last), ...Array(60).fill(parts[last]), ...parts.slice(last + 1)])
    await expect(normaliseImage(file)).rejects.toThrow(/^The image has \d\d scans; for its size, at most 27/)
    expect(await normaliseImage(progressive)).toMatchObject({ width: 3000, height: 3000 })

    const comments = Array.from({ length: 10_001 }, () => segment(0xfe, Buffer.alloc(0)))
    const commented = insertSegments(await image(100).jpeg().toBuffer(), ...comments)
    await expect(normaliseImage(commented)).rejects.toMatchObject({ code: 'INVALID_IMAGE' })
  })

  it.each([
    ['JPEG', Buffer.from([0xff, 0xd8]), Buffer.from([0xff, 0xfe, 0, 2])],
    ['PNG', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('drAp', Buffer.alloc(0))],
    ['WebP', Buffer.from('RIFF\0\0\0\0WEBP'), Buffer.from('ABCD\0\0\0\0')],
  ])('have no Content Credentials as %s with more than 10,000 parts', (_, head, part) => {
    const file = (parts: number) => Buffer.concat([head, ...Array<Buffer>(parts).fill(part), Buffer.alloc(1)])
    expect(() => openAsset(file(10_004))).toThrow('more than 10000 parts')
    expect(() => openAsset(file(9_990))).not.toThrow('parts')
  })

  it('are refused as HEIC with more than 10,000 boxes', () => {
    const brand = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0heicmif1', 'latin1')
    const file = Buffer.concat([brand, Buffer.from('\0\0\0\x08free'.repeat(10_001), 'latin1')])
    expect(() => readImageHeader(file)).toThrow(
      expect.objectContaining({ cause: new RangeError('more than 10000 parts') }),
    )
  })

  it('are refused as JPEG that ends within a segment', async () => {
    const file = await image(100).jpeg().toBuffer()
    const scan = file.indexOf(Buffer.from([0xff, 0xda]))
    for (const cut of [scan + 2, scan + 3]) {
      await expect(normaliseImage(file.subarray(0, cut))).rejects.toMatchObject({ code: 'INVALID_IMAGE' })
    }
  })
})
