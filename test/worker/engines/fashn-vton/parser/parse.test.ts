import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LABELS } from '../../../../../worker/engines/fashn-vton/parser/labels.ts'
import { createParser, type Parser } from '../../../../../worker/engines/fashn-vton/parser/parse.ts'
import { openSession, type Session } from '../../../../../worker/inference/session.ts'
import { type Bytes, createBytes } from '../../../../../worker/vision/raster/bytes.ts'

const FIXTURES = new URL('../../../../fixtures/', import.meta.url)
const open = (path: string) => openSession(new URL(path, FIXTURES).pathname)

// The graph takes red for a top, green for pants and blue for a face.
describe('a parser of clothed people', () => {
  let graph: Session
  let parser: Parser
  beforeAll(async () => {
    graph = await open('parser/parser.onnx')
    parser = createParser(graph)
  })
  afterAll(() => graph?.release())

  it.each([[{ width: 384, height: 576 }], [{ width: 300, height: 300 }], [{ width: 648, height: 864 }]])(
    'labels every pixel of an image of any size: %j',
    async (size) => {
      const bitmap = createBytes(size, 3)
      const [middle, third] = [size.width / 2, size.height / 3]
      for (let i = 0; i < bitmap.data.length; i += 3) {
        const [x, y] = [(i / 3) % size.width, Math.floor(i / 3 / size.width)]
        const channel = y < third ? 2 : y < 2 * third ? 0 : 1
        if (x >= middle) bitmap.data[i + channel] = 255
        else bitmap.data.fill(127, i, i + 3)
      }
      const labels = await parser.parse(bitmap)
      expect([labels.width, labels.height]).toEqual([size.width, size.height])
      const at = (x: number, y: number) => LABELS[labels.data[Math.floor(y) * size.width + Math.floor(x)]]
      const right = [0.5, 1.5, 2.5].map((row) => at(1.5 * middle, row * third))
      expect(right).toEqual(['face', 'top', 'pants'])
      for (const row of [0.5, 1.5, 2.5]) expect(at(0.5 * middle, row * third)).toBe('background')
      // Between cells of the grid an edge lies where the scores cross: within two cells of where the colours do.
      const cell = (4 * size.width) / 384
      expect([at(middle - 2 * cell, 1.5 * third), at(middle + 2 * cell, 1.5 * third)]).toEqual(['background', 'top'])
    },
  )

  it('rejects a graph with another interface', async () => {
    const other = await open('dwpose/pose-detector.onnx')
    expect(() => createParser(other)).toThrow('which does not match the interface of a parser')
    await other.release()
  })

  it('rejects output that is not finite', async () => {
    const spoiled: Session = {
      ...graph,
      run: async (feeds) => {
        const outputs = await graph.run(feeds)
        outputs.logits.data[5] = Number.NaN
        return outputs
      },
    }
    const bitmap: Bytes = createBytes({ width: 40, height: 60 }, 3)
    await expect(createParser(spoiled).parse(bitmap)).rejects.toMatchObject({ code: 'RESULT_REJECTED' })
  })
})
