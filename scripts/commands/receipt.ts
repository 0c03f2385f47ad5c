import { parseJsonOrNull } from '../../api/shared/contract/json-or-null.ts'
import { compileCheck, Type } from '../../api/shared/contract/schema.ts'
import { listsObject, verifyReceipt } from '../../api/trust/receipts/verify.ts'
import type { Answer, FreeCommand } from './command.ts'
import { CheckFailure } from './failure.ts'
import { argument, type Options, option, readGiven, required, UsageError } from './options.ts'

export const receiptCommands: Readonly<Record<string, FreeCommand>> = {
  'receipt verify': {
    summary: 'verify the receipt of an erasure, and show what was erased; exit code 1 unless it is genuine',
    argument: argument('file', 'the receipt, or the answer of GET /tryon/v1/erasures/{id}'),
    options: [
      option('--keys <file>', 'public keys of the installation (default: those of GET /receipts/keys at DRAPE_URL)'),
      option('--object <key>', 'key of an object, or a link to it; prints whether the receipt lists it as erased'),
    ],
    run: verify,
  },
}

async function verify({ file, keys, object }: Options): Promise<Answer> {
  const text = String(await readGiven(required(file, 'file')))
  const report = verifyReceipt(text, keys === undefined ? await fetchKeyIds() : await readKeyIds(keys))
  const isValid = report.status === 'valid'
  const isListed = object === undefined ? undefined : isValid && listsObject(text, object)
  if (!isValid || isListed === false) process.exitCode = 1
  return { ...report, ...(isListed !== undefined && { isListed }) }
}

const MAX_MS = 10_000

async function fetchKeyIds(): Promise<string[]> {
  const { DRAPE_URL = 'http://localhost:8080' } = process.env
  if (!URL.canParse(DRAPE_URL)) throw new UsageError('DRAPE_URL must be the address of the service')
  const url = new URL('/receipts/keys', DRAPE_URL)
  const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(MAX_MS) }).catch(() => null)
  const keyIds = answer?.ok ? findKeyIds(await answer.text()) : null
  if (keyIds !== null) return keyIds
  throw new CheckFailure(`the keys cannot be read from ${url}: set DRAPE_URL, or name a file with --keys`)
}

async function readKeyIds(path: string): Promise<string[]> {
  const keyIds = findKeyIds(String(await readGiven(path)))
  if (keyIds !== null) return keyIds
  throw new UsageError('--keys must be a file with the response of GET /receipts/keys')
}

const checkKeys = compileCheck(Type.Object({ keys: Type.Array(Type.Object({ kid: Type.String() })) }))

function findKeyIds(text: string): string[] | null {
  const checked = checkKeys(parseJsonOrNull(text))
  return checked.ok ? checked.value.keys.map(({ kid }) => kid) : null
}
