import { spawn } from 'node:child_process'
import { buffer } from 'node:stream/consumers'

const STEADY = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rw,go=r,a+X']

/** A reproducible archive of `entries` of the folder, without timestamps and owners. */
export async function archiveFolder(folder: string, entries: readonly string[] = ['.']): Promise<Buffer> {
  const tar = spawn('tar', ['--create', '--format=gnu', ...STEADY, '--directory', folder, ...entries], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve, reject) => {
    tar.on('error', reject)
    tar.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`tar exited with ${code}`))))
  })
  const [bytes] = await Promise.all([buffer(tar.stdout), ended])
  return bytes
}
