import fc from 'fast-check'

/** Texts that have broken programs before. */
export const hostileTexts: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  {
    weight: 5,
    arbitrary: fc.constantFrom(
      '',
      ' ',
      '\0',
      'a\0b',
      '\ud800',
      '\udfff\ud800',
      '\u202e\u2066\u200b',
      '\ufeff',
      '👩‍👩‍👧‍👦'.repeat(20),
      'a\u0301'.repeat(300),
      '__proto__',
      'constructor',
      'toString',
      '_anon_',
      '_anon_00000000-0000-7000-8000-000000000000',
      "'; drop table generations; --",
      '{{7*7}}<%= 7 %>',
      '%s%n%x',
      '../../../../etc/passwd',
      'file:///etc/passwd',
      'upload://0000',
      'javascript:alert(1)',
      'http://',
      'http://127.0.0.1:1/',
      'http://user:secret@127.0.0.1/',
      'http://[::ffff:10.0.0.1]/a.jpg',
      'https://0x7f.1/',
      'HTTP://10.0.0.1',
      'true',
      'null',
      'NaN',
      '-1',
      '1e400',
      '9'.repeat(400),
      '2026-02-30T25:61:61Z',
      '+275760-09-13T00:00:00.001Z',
      '0000-01-01',
      'x'.repeat(255),
      'x'.repeat(256),
      'x'.repeat(5000),
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('x', '\u{1f4a5}', '"\\').map((unit) => unit.repeat(30_000)) },
)

/** JSON values that no field expects. */
export const hostileValues: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: hostileTexts },
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -0,
      -1,
      0.5,
      366,
      2 ** 31,
      2 ** 53 + 2,
      -(2 ** 63),
      Number.MAX_VALUE,
      Number.MIN_VALUE,
      [],
      {},
      [null],
      [[]],
      { '': '' },
      { url: null },
      { source: {} },
      { fileKey: 'a', url: 'b' },
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.nat(300).map((length) => Array.from({ length }, (_, i) => i)) },
  { weight: 1, arbitrary: fc.integer({ min: 2, max: 200 }).map(nest) },
)

function nest(depth: number): unknown {
  let value: unknown = 'deep'
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

/** One change of a value, at a place chosen by `seed`. */
const edits = fc.record({
  seed: fc.nat(),
  kind: fc.constantFrom('replace', 'delete', 'add', 'wrap' as const),
  name: fc.constantFrom('__proto__', 'constructor', 'extra', 'url', 'id', 'images', 'person', 'validForDays', ''),
  value: hostileValues,
})

/** The values with a few changes that usually make them invalid. */
export function spoiled(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(values, fc.array(edits, { minLength: 1, maxLength: 3 }))
    .map(([value, changes]) => changes.reduce(applyEdit, structuredClone(value)))
}

type Edit = typeof edits extends fc.Arbitrary<infer T> ? T : never

function applyEdit(root: unknown, { seed, kind, name, ...edit }: Edit): unknown {
  // Several edits can insert the same value, which could then contain itself.
  const value = structuredClone(edit.value)
  const holder = { root }
  const places = listPlaces(holder)
  const { parent, key } = places[seed % places.length]
  const inner = parent[key]
  if (kind === 'delete' && parent !== (holder as unknown)) delete parent[key]
  else if (kind === 'add' && typeof inner === 'object' && inner !== null) setField(inner, name, value)
  else parent[key] = kind === 'wrap' ? [inner] : value
  return holder.root
}

function setField(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true })
}

interface Place {
  readonly parent: Record<string, unknown>
  readonly key: string
}

function listPlaces(value: object): Place[] {
  return Object.entries(value).flatMap(([key, inner]) => [
    { parent: value as Record<string, unknown>, key },
    ...(typeof inner === 'object' && inner !== null ? listPlaces(inner) : []),
  ])
}
