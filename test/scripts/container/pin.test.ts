import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../../..')

/** Without crane: it is in no folder of this PATH. */
const pin = (reference: string) =>
  new Promise<{ code: number; output: string; said: string }>((done) => {
    execFile('/bin/sh', ['scripts/container/pin', reference], { cwd: ROOT, env: { PATH: '' } }, (error, output, said) =>
      done({ code: Number(error?.code ?? 0), output, said }),
    )
  })

describe('the base image of a release', () => {
  it('stays what it is where it is named by its digest', async () => {
    const reference = `docker.io/library/node@sha256:${'0'.repeat(64)}`
    expect(await pin(reference)).toEqual({ code: 0, output: `${reference}\n`, said: '' })
  })

  it('is refused where a tag alone names it', async () => {
    const { code, output, said } = await pin('docker.io/library/node:24')
    expect({ code, output }).toEqual({ code: 1, output: '' })
    expect(said).toContain('name the image as docker.io/library/node:24@sha256:…')
  })

  it('is pinned before anything is built, for every parameter of the Containerfile that names an image', () => {
    const containerfile = readFileSync(resolve(ROOT, 'Containerfile'), 'utf8')
    const release = readFileSync(resolve(ROOT, 'scripts/release-images'), 'utf8')
    const parameters = [...containerfile.matchAll(/^FROM \$\{(\w+)\}/gm)].map(([, name]) => name)
    expect(new Set(parameters)).toEqual(new Set(['BASE', 'PYTHON']))
    for (const name of parameters) {
      expect(release).toContain(`${name}=$(scripts/container/pin `)
      expect(release).toContain(`--build-arg ${name}="$${name}"`)
      expect(release.indexOf(`${name}=$(scripts`)).toBeLessThan(release.indexOf('buildah build'))
    }
    expect(containerfile.match(/^FROM (?!\$\{|scratch|runtime|worker)\S+/gm)).toBeNull()
  })
})
