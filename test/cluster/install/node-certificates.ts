import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../../../scripts/stack/commands.ts'

/** With which the API server calls a kubelet, for logs and commands in pods. */
export interface NodeCertificates {
  /** Path of the authority that the kubelet believes. */
  readonly authority: string
  /** Paths of what the API server shows. */
  readonly certificate: string
  readonly key: string
}

/** Makes a small authority in the folder and a certificate by it. */
export async function makeNodeCertificates(folder: string): Promise<NodeCertificates> {
  await mkdir(folder, { recursive: true })
  const at = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => run('openssl', args)
  const newKey = ['-newkey', 'rsa:2048', '-nodes']
  await openssl(
    'req',
    '-x509',
    ...newKey,
    '-days',
    '7',
    '-subj',
    '/CN=nodes',
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.crt'),
  )
  await openssl(
    'req',
    ...newKey,
    '-subj',
    '/O=system:masters/CN=apiserver',
    '-keyout',
    at('call.key'),
    '-out',
    at('call.csr'),
  )
  const signed = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '7']
  await openssl('x509', '-req', '-in', at('call.csr'), ...signed, '-out', at('call.crt'))
  return { authority: at('ca.crt'), certificate: at('call.crt'), key: at('call.key') }
}
