import { findGoTool, type GoTool } from '../stack/go-tool.ts'

/** Programs that publish a release, of fixed versions. */
const TOOLS = {
  crane: {
    name: 'crane',
    package: 'github.com/google/go-containerregistry/cmd/crane',
    source: { version: 'v0.20.6' },
  },
  cosign: { name: 'cosign', package: 'github.com/sigstore/cosign/v3/cmd/cosign', source: { version: 'v3.1.3' } },
  syft: { name: 'syft', package: 'github.com/anchore/syft/cmd/syft', source: { version: 'v1.57.1' } },
} as const satisfies Readonly<Record<string, GoTool>>

/** The path of the program, built once from its Go module, whose checksum Go compares. @throws Error if the build fails. */
export async function findReleaseTool(name: keyof typeof TOOLS): Promise<string> {
  const found = await findGoTool(TOOLS[name], console.error)
  if (typeof found !== 'string') throw new Error(found.unavailable)
  return found
}
