const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const DECIMAL: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
}

/** Parses a Kubernetes quantity, such as 500m, 4Gi or 1e3; NaN for an invalid quantity. */
export function readQuantity(quantity: string | number): number {
  const [, digits = '', suffix = ''] = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)$/.exec(String(quantity)) ?? []
  const binary = BINARY.indexOf(suffix)
  const unit = binary === -1 ? (DECIMAL[suffix] ?? Number.NaN) : 1024 ** (binary + 1)
  return digits === '' ? Number.NaN : Number(digits) * unit
}
