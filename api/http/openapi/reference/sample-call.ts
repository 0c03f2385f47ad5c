import { type DescribedOperation, resolveSchema, type Schemas } from './document.ts'

export interface CallOptions {
  readonly method: string
  readonly path: string
  readonly operation: DescribedOperation
  readonly baseUrl: string
  readonly schemas: Schemas
}

const CREDENTIALS: Readonly<Record<string, string>> = {
  apiKey: '-H "x-api-key: $DRAPE_API_KEY"',
  publishableKey: '-H "authorization: Bearer $DRAPE_PUBLISHABLE_KEY"',
}

/** The operation as a command of curl; null for operations that only the proxy of a shop can sign. */
export function describeCall({ method, path, operation, baseUrl, schemas }: CallOptions): string | null {
  const schemes = (operation.security ?? [{ apiKey: [] }]).flatMap((one) => Object.keys(one))
  const credential = schemes.find((scheme) => Object.hasOwn(CREDENTIALS, scheme))
  if (schemes.length > 0 && credential === undefined) return null
  const address = `${baseUrl}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => toPlaceholder(name))}`
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${address}`,
    ...(credential === undefined ? [] : [CREDENTIALS[credential]]),
    ...describeBody(operation, schemas),
  ]
  return lines.join(' \\\n  ')
}

/** `externalId` → `EXTERNAL_ID` */
function toPlaceholder(name: string): string {
  return name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()
}

function describeBody({ requestBody }: DescribedOperation, schemas: Schemas): string[] {
  const content = requestBody?.content ?? {}
  const json = content['application/json']
  if (json !== undefined) {
    if (json.example === undefined) return []
    const text = JSON.stringify(json.example, null, 2).replaceAll("'", "'\\''")
    return [`-H 'content-type: application/json'`, `-d '${text}'`]
  }
  const form = content['multipart/form-data']?.schema
  if (form !== undefined) return (resolveSchema(form, schemas).required ?? []).map((name) => `-F ${name}=@photo.jpg`)
  return Object.hasOwn(content, 'application/octet-stream') ? ['--data-binary @photo.jpg'] : []
}
