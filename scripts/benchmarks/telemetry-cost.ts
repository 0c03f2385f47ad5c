import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Benchmark } from './benchmark.ts'
import { measureThroughput } from './load.ts'
import { alternate } from './rounds.ts'
import { insertSample } from './sample-data.ts'
import { tryOnRequest } from './try-on-request.ts'

export const telemetryCost: Benchmark = {
  id: 'P5',
  what: 'POST /try-on by reference with every request traced, against telemetry switched off',
  unit: 'answers/s',
  better: 'higher',
  goal: 0.92,
  measure: async (bench) => {
    const receiver = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    bench.defer(() => receiver.close().closeAllConnections())
    const { port } = receiver.address() as AddressInfo
    const traced = await bench.startStack({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` } })
    const plain = await bench.startStack()
    const [ours, anchor] = await Promise.all(
      [traced, plain].map(async (stack) => ({
        url: stack.api.url,
        ...tryOnRequest(stack, await insertSample(stack)),
      })),
    )
    return await alternate({
      ours: () => measureThroughput(ours),
      anchor: () => measureThroughput(anchor),
      better: 'higher',
    })
  },
}
