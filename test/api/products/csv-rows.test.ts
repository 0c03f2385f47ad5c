import { describe, expect, it } from 'vitest'
import { readCsvRows } from '../../../api/products/csv-rows.ts'
import { boundCells } from '../../../api/products/csv-width.ts'

describe('rows of a CSV catalogue', () => {
  let sent = 0

  async function* inChunks(text: string): AsyncGenerator<string> {
    for (sent = 0; sent < text.length; sent += 16_384) yield text.slice(sent, sent + 16_384)
  }
  const read = async (text: string) => {
    const rows = []
    for await (const row of readCsvRows(inChunks(text))) rows.push(row)
    return rows
  }

  it('are refused if the header row is too long, however much follows', async () => {
    const header = `externalId${',x'.repeat(500_000)}\n`
    await expect(read(header + 'q\n'.repeat(400))).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      message: expect.stringContaining('a header row of at most 65536 characters'),
    })
    expect(sent).toBeLessThan(100_000)
  })

  it('have a bounded number of columns', async () => {
    const header = (columns: number) => `externalId${',x'.repeat(columns - 1)}\n`
    expect(await read(`${header(1000)}one\n`)).toMatchObject([{ line: 2, product: { externalId: 'one' } }])
    await expect(read(`${header(1001)}one\n`)).rejects.toThrow('must have at most 1000 columns')
  })

  it('are refused individually for too many cells, even empty ones', async () => {
    const rows = await read(`externalId,title\none,First\ntwo${','.repeat(900_000)}\nthree,Third\n`)
    expect(rows).toMatchObject([
      { line: 2, product: { externalId: 'one' } },
      { line: 3, problem: { message: expect.stringContaining('has more than 1000 cells') } },
      { line: 4, product: { externalId: 'three' } },
    ])
  })

  it('reach the parser without cells over the limit, except quoted ones', async () => {
    const wide = `two${',x'.repeat(50_000)},"a\n,b"${','.repeat(50_000)}`
    const texts = [`externalId,title\none,"${'a,'.repeat(5000)}"\n`, `${wide}\r\n`, 'three,T\n']
    const pass = async (text: string) => {
      let passed = ''
      for await (const chunk of boundCells(inChunks(text), { delimiter: ',', maxCells: 1001 })) passed += chunk
      return passed
    }
    expect(await pass(texts.join(''))).toBe(`${texts[0]}two${',x'.repeat(1000)}\r\n${texts[2]}`)
    await expect(pass(`${wide},"open\nfour,F\n`)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
  })

  it('can end in carriage returns', async () => {
    const rows = await read(`externalId,title\r${Array.from({ length: 9000 }, (_, i) => `id-${i},T`).join('\r')}`)
    expect(rows).toHaveLength(9000)
  })
})
