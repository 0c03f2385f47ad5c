import { describe, expect, it } from 'vitest'
import { KubernetesError } from '../../../controller/runtime/kubernetes-error.ts'
import { refusalOf } from '../../../controller/runtime/refusal.ts'

describe('a refusal', () => {
  it('is what the API server takes for wrong or not allowed', () => {
    for (const status of [400, 403, 422]) {
      const error = new KubernetesError(status, 'no')
      expect(refusalOf(error, 0)).toBe(error)
    }
  })

  it('is what it could not do several times', () => {
    const error = new KubernetesError(500, 'failed calling webhook')
    expect(() => refusalOf(error, 2)).toThrow(error)
    expect(refusalOf(error, 3)).toBe(error)
  })

  it('is neither a conflict, nor a wish to be left alone, nor silence, nor a fault of ours', () => {
    for (const error of [409, 429, 404, 0].map((status) => new KubernetesError(status, 'later')))
      expect(() => refusalOf(error, 100)).toThrow(error)
    const fault = new TypeError('a fault')
    expect(() => refusalOf(fault, 100)).toThrow(fault)
  })
})
