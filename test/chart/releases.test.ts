import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../../scripts/stack/session.ts'

it('the charts have the version of the package, as do their subcharts', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  for (const path of ['drape', 'drape/charts/crds', 'drape-crds']) {
    const text = await readFile(join(ROOT, 'charts', path, 'Chart.yaml'), 'utf8')
    expect(
      text.match(/^(?:version|appVersion): .*$/gm)?.map((line) => line.split(' ')[1]),
      path,
    ).toEqual(text.includes('appVersion') ? [version, version] : [version])
  }
})
