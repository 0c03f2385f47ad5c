import { stripTypeScriptTypes } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'

parentPort?.postMessage((workerData as string[]).map((source) => stripTypeScriptTypes(source)))
