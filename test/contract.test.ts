import { describe, expect, it } from 'vitest'
import { createDocument } from '../api/openapi/document.ts'
import { ROUTES } from '../api/routes/routes.ts'
import { createContract, type Observed } from './support/contract.ts'

/** The check that every answer in every test goes through. */
describe('the contract check of responses', () => {
  const contract = createContract(createDocument(ROUTES, { publicUrl: 'https://try.example', serviceName: 'Drape' }))
  const hold = (observed: Partial<Observed>) => () =>
    contract.hold({
      method: 'GET',
      path: '/tryon/v1/account/credits',
      status: 200,
      contentType: 'application/json',
      body: { creditBalance: 3 },
      ...observed,
    })
  const refusal = (code: string, status: number) => ({ status, body: { code, status, message: 'No.' } })

  it('accepts documented responses and additional fields', () => {
    expect(hold({})).not.toThrow()
    expect(hold({ body: { creditBalance: 3, currency: 'credit' } })).not.toThrow()
    expect(hold(refusal('INVALID_API_KEY', 401))).not.toThrow()
    expect(hold({ method: 'HEAD', body: null })).not.toThrow()
    expect(hold({ method: 'DELETE', path: '/tryon/v1/customers/a%20b', status: 204, body: null })).not.toThrow()
    expect(hold({ path: '/objects/a.jpg', status: 418 })).not.toThrow()
  })

  it('rejects an undocumented status, a missing field and a field of another type', () => {
    expect(hold({ status: 201 })).toThrow('has a status that getCredits does not have')
    expect(hold({ body: {} })).toThrow('creditBalance')
    expect(hold({ body: { creditBalance: '3' } })).toThrow('/creditBalance must be integer')
    expect(hold({ method: 'DELETE', path: '/tryon/v1/customers/a', status: 204 })).toThrow('has a body')
  })

  it('rejects an error code that the operation does not have, or has under another status', () => {
    expect(hold(refusal('PRODUCT_NOT_FOUND', 404))).toThrow('/code')
    expect(hold(refusal('INVALID_API_KEY', 500))).toThrow('/code')
    expect(hold({ status: 401, body: { code: 'INVALID_API_KEY', status: 401 } })).toThrow('message')
  })

  it('accepts ROUTE_NOT_FOUND and METHOD_NOT_ALLOWED for requests without an operation', () => {
    expect(hold({ path: '/tryon/v1/nothing', ...refusal('ROUTE_NOT_FOUND', 404) })).not.toThrow()
    expect(hold({ method: 'PUT', ...refusal('METHOD_NOT_ALLOWED', 405) })).not.toThrow()
    expect(hold({ path: '/tryon/v1/nothing', ...refusal('FORBIDDEN', 403) })).toThrow('names no operation')
    expect(hold({ method: 'PUT' })).toThrow('names no operation')
  })
})
