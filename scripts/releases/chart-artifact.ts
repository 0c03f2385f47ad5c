import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { packChart } from '../charts/archive.ts'
import type { ChartName } from '../charts/build.ts'
import { writeBlob, writeManifest } from '../container/write-layout.ts'

// https://helm.sh/docs/topics/registries: helm push adds the time, so that its digests differ from call to call.
const CONFIG = 'application/vnd.cncf.helm.config.v1+json'
const CONTENT = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip'

/** Writes the chart in OCI layout to `folder`, as helm pull expects it; returns its digest. */
export async function writeChart(name: ChartName, { folder, work }: { folder: string; work: string }): Promise<string> {
  const archive = await packChart(name, work)
  const metadata = parse(await readFile(join(work, name, 'Chart.yaml'), 'utf8'))
  const config = await writeBlob(folder, CONFIG, Buffer.from(JSON.stringify(metadata)))
  const layer = await writeBlob(folder, CONTENT, await readFile(archive))
  const annotations = {
    'org.opencontainers.image.title': metadata.name,
    'org.opencontainers.image.description': metadata.description,
    'org.opencontainers.image.version': metadata.version,
  }
  return writeManifest(folder, { manifest: { config, layers: [layer], annotations } })
}
