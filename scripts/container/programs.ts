/** Programs of each image target, as files of the repository. */
export const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  api: ['api/main.ts', 'scripts/drape.ts'],
  worker: ['worker/main.ts', 'worker/verify-models.ts', 'worker/read-mark.ts', 'worker/engine-files/main.ts'],
  controller: ['controller/main.ts', 'controller/definitions.ts', 'controller/generated-secrets/main.ts'],
}

/** Imports that need the packages of another program; they fail with a message at run time. */
export const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  api: [
    'scripts/commands/simulate.ts',
    'scripts/commands/engine-card.ts',
    'scripts/commands/serve-mcp.ts',
    'worker/mark/find-mark.ts',
    'controller/retention/policies.ts',
  ],
}
