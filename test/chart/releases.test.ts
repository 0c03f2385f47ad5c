import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findForbiddenChanges } from '../../scripts/charts/immutable-fields.ts'
import { describeRelease, readReleases } from '../../scripts/charts/releases.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import { findChart } from './charts.ts'

const chart = await findChart('drape')

describe.skipIf(chart === null)('the chart', () => {
  it('can be upgraded from every recorded release', async () => {
    const now = await describeRelease(chart?.folder ?? '')
    const releases = await readReleases()
    expect(releases.length).toBeGreaterThan(0)
    for (const { version, byValues } of releases) {
      for (const [file, earlier] of Object.entries(byValues)) {
        expect(findForbiddenChanges(earlier, now.byValues[file] ?? {}), `${file} of ${version}`).toEqual([])
      }
    }
  })

  it('has the version of the package, as do its subcharts', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
    for (const path of ['drape', 'drape/charts/crds', 'drape-crds']) {
      const text = await readFile(join(ROOT, 'charts', path, 'Chart.yaml'), 'utf8')
      expect(
        text.match(/^(?:version|appVersion): .*$/gm)?.map((line) => line.split(' ')[1]),
        path,
      ).toEqual(text.includes('appVersion') ? [version, version] : [version])
    }
  })
})

describe('an upgrade', () => {
  const service = (clusterIP: string) => ({ 'Service drape-api': { 'spec.clusterIP': clusterIP } })

  it('fails when a persistent object is missing or an immutable field changes', () => {
    expect(findForbiddenChanges(service(''), {})).toEqual(['Service drape-api is missing'])
    expect(findForbiddenChanges(service(''), service('None'))).toEqual([
      'Service drape-api: spec.clusterIP was "", is "None"',
    ])
    expect(findForbiddenChanges(service('None'), service('None'))).toEqual([])
  })
})
