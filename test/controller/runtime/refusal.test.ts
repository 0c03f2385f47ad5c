import { describe, expect, it } from 'vitest'
import { KubernetesError } from '../../../controller/runtime/kubernetes-error.ts'
import { refusalOf } from '../../../controller/runtime/refusal.ts'

describe('a rejection by the API server', () => {
  it('is an invalid or forbidden request', () => {
    for (const status of [400, 403, 422]) {
      const error = new KubernetesError(status, 'no')
      expect(refusalOf(error, 0)).toBe(error)
    }
  })

  it('is a request that failed several times', () => {
    const error = new KubernetesError(500, 'failed calling webhook')
    expect(() => refusalOf(error, 2)).toThrow(error)
    expect(refusalOf(error, 3)).toBe(error)
  })

  it('is neither a conflict, nor throttling, nor a timeout, nor an internal error', () => {
    for (const error of [409, 429, 404, 0].map((status) => new KubernetesError(status, 'later')))
      expect(() => refusalOf(error, 100)).toThrow(error)
    const fault = new TypeError('a fault')
    expect(() => refusalOf(fault, 100)).toThrow(fault)
  })
})
