import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { createCredentials } from '../../../controller/runtime/credentials.ts'
import { findKubeconfig } from '../../../controller/runtime/kubeconfig.ts'
import { requestService } from '../../support/request-service.ts'

describe('the way to a cluster', () => {
  let folder: string

  const write = async (name: string, object: unknown) => {
    const path = join(folder, name)
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, typeof object === 'string' ? object : JSON.stringify(object))
    return path
  }
  const writeConfig = (name: string, user: object, more: object = {}) =>
    write(name, {
      'current-context': 'here',
      contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'shop' } }],
      clusters: [{ name: 'c', cluster: { server: 'https://api.test:6443/', 'certificate-authority': 'pki/ca.crt' } }],
      users: [{ name: 'u', user }],
      ...more,
    })
  const nowhere = () => ({ home: join(folder, 'no-home'), serviceAccount: join(folder, 'no-pod') })

  beforeEach(async () => {
    folder = (await requestService('folder', null)).path
    await write('pki/ca.crt', 'the authority')
  })

  it('is told by a file, whose paths start where it lies', async () => {
    await write('pki/u.crt', 'a certificate')
    await write('pki/u.key', 'a key')
    const user = { 'client-certificate': 'pki/u.crt', 'client-key': 'pki/u.key', as: 'somebody' }
    const kubeconfig = findKubeconfig({ kubeconfig: await writeConfig('config', user) })
    expect(kubeconfig).toMatchObject({ namespace: 'shop', cluster: { server: 'https://api.test:6443' } })
    expect(await createCredentials(kubeconfig)()).toEqual({
      ca: Buffer.from('the authority'),
      cert: Buffer.from('a certificate'),
      key: Buffer.from('a key'),
      headers: { 'impersonate-user': 'somebody' },
    })
  })

  it('is put together from several files, of which an earlier one counts', async () => {
    const first = await write('first', { 'current-context': 'here', users: [{ name: 'u', user: { token: 'first' } }] })
    const second = await writeConfig('second', { token: 'second' }, { 'current-context': 'there' })
    const env = { KUBECONFIG: [join(folder, 'missing'), first, second].join(delimiter) }
    const kubeconfig = findKubeconfig({ ...nowhere(), env })
    expect((await createCredentials(kubeconfig)()).headers).toEqual({ authorization: 'Bearer first' })
  })

  it('is looked for in the home folder when nothing names it', async () => {
    await writeConfig('home/.kube/config', { username: 'anna', password: 'secret' })
    await write('home/.kube/pki/ca.crt', 'the authority')
    const kubeconfig = findKubeconfig({ ...nowhere(), home: join(folder, 'home') })
    expect(await createCredentials(kubeconfig)()).toMatchObject({ auth: 'anna:secret' })
  })

  it('is what a pod is given, with its token as it is by now', async () => {
    const serviceAccount = join(folder, 'account')
    await write('account/token', 'old\n')
    await write('account/ca.crt', 'the authority')
    await write('account/namespace', 'drape\n')
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' }
    const kubeconfig = findKubeconfig({ ...nowhere(), serviceAccount, env })
    expect(kubeconfig).toMatchObject({ namespace: 'drape', cluster: { server: 'https://[fd00::1]:6443' } })
    let now = 0
    const credentials = createCredentials(kubeconfig, () => now)
    expect((await credentials()).headers).toEqual({ authorization: 'Bearer old' })
    await write('account/token', 'new\n')
    now = 61_000
    expect((await credentials()).headers).toEqual({ authorization: 'Bearer new' })
  })

  it('reads a token file again, too, that a kubeconfig names', async () => {
    await write('token', 'old')
    const kubeconfig = findKubeconfig({ kubeconfig: await writeConfig('config', { tokenFile: 'token' }) })
    let now = 0
    const credentials = createCredentials(kubeconfig, () => now)
    await credentials()
    await write('token', 'new')
    now = 61_000
    expect((await credentials()).headers).toEqual({ authorization: 'Bearer new' })
  })

  it('asks the program that a user names for a token', async () => {
    const status = JSON.stringify({ status: { token: 'made' } })
    const exec = { command: process.execPath, args: ['-e', `console.log(${JSON.stringify(status)})`] }
    const kubeconfig = findKubeconfig({ kubeconfig: await writeConfig('config', { exec }) })
    expect((await createCredentials(kubeconfig)()).headers).toMatchObject({ Authorization: 'Bearer made' })
  })

  it('says what is missing', async () => {
    expect(() => findKubeconfig(nowhere())).toThrow('No cluster configured')
    const broken = await writeConfig('broken', {}, { 'current-context': 'elsewhere' })
    expect(() => findKubeconfig({ kubeconfig: broken })).toThrow('Unknown context elsewhere')
    const clusterless = await writeConfig('clusterless', {}, { clusters: [] })
    expect(() => findKubeconfig({ kubeconfig: clusterless })).toThrow('Unknown cluster c')
    const old = await writeConfig('old', { 'auth-provider': { name: 'gcp' } })
    expect(() => findKubeconfig({ kubeconfig: old })).toThrow('The auth-provider gcp is not supported')
  })
})
