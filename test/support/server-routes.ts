import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { nameOf, type Operation } from '../../api/openapi/operation.ts'

const FOLDER = resolve(import.meta.dirname, '../../api/routes')

/** Every route that a file of the server API or of the storefront declares, as `GET /tryon/v1/generations/{id}`. */
export async function listDeclaredRoutes(): Promise<string[]> {
  const modules: object[] = await Promise.all(
    globSync('{server,storefront}/*.ts', { cwd: FOLDER }).map((file) => import(resolve(FOLDER, file))),
  )
  return modules.flatMap((module) => Object.values(module).flat().filter(isRoute).map(nameOf))
}

function isRoute(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'guards' in value && 'path' in value
}
