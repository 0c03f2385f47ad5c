import { describe, expect, it } from 'vitest'
import { presentAnswer, printable } from '../../../scripts/commands/output.ts'

describe('the output of the command line', () => {
  it('prints single values as lines, and lists as tables', () => {
    const answer = {
      isBalanced: false,
      settings: { resultDays: 3, engines: ['warp', 'mock'] },
      at: new Date('2026-01-05T08:00:00Z'),
      gaps: [
        { accountId: 'acc_1', balance: 10, note: null },
        { accountId: 'acc_22', balance: 9, note: null },
      ],
      others: [],
    }
    expect(presentAnswer(answer)).toBe(`isBalanced           false
settings.resultDays  3
settings.engines     warp, mock
at                   2026-01-05T08:00:00.000Z

gaps:
accountId  balance
acc_1      10
acc_22     9

others: none`)
  })

  it('prints a list entry by entry on a terminal too narrow for its table', () => {
    const shops = [
      { id: 'shop_1', domain: 'a.example' },
      { id: 'shop_2', domain: null },
    ]
    expect(presentAnswer({ shops }, 10)).toBe('id      shop_1\ndomain  a.example\n\nid      shop_2\ndomain  -')
  })

  it('aligns wide characters', () => {
    const [, first, second] = presentAnswer({
      shops: [
        { name: '試着', id: 'a' },
        { name: 'Shop', id: 'b' },
      ],
    }).split('\n')
    expect([first, second]).toEqual(['試着  a', 'Shop  b'])
  })

  it.each([
    ['\u001b]0;owned\u0007', String.raw`\u001b]0;owned\u0007`],
    ['a\r\nb\tc', String.raw`a\u000d\u000ab\u0009c`],
    ['\u009b2J', String.raw`\u009b2J`],
    ['\u202egpj.exe', String.raw`\u202egpj.exe`],
    ['zero\u200bwidth\ufeff', String.raw`zero\u200bwidth\ufeff`],
    ['\u{e0041}', String.raw`\udb40\udc41`],
    ['\ud800', String.raw`\ud800`],
    ['👩‍👧 Läden 試着', '👩‍👧 Läden 試着'],
  ])('escapes control and invisible characters: %j', (text, shown) => {
    expect(printable(text)).toBe(shown)
    const table = presentAnswer({ shops: [{ name: text, [text]: 1 }], [text]: text })
    expect(table).toContain(shown)
    if (shown !== text) expect(table).not.toContain(text)
    // As JSON it means the same.
    expect(JSON.parse(printable(JSON.stringify({ text })))).toEqual({ text })
  })
})
