import { run } from '../stack/commands.ts'

/** A registry of images and charts. Credentials are those of docker login. */
export interface Registry {
  /**
   * The digest of a tag or of a digest, with a platform such as linux/amd64 that of the image for it; undefined if the registry
   * answers that it does not exist. @throws Error on any other answer.
   */
  findDigest(reference: string, platform?: string): Promise<string | undefined>
  /** Uploads a folder in OCI layout under its digest, without a tag. */
  push(folder: string, reference: string): Promise<void>
  /** Points the tag to the reference, which ends with a digest. */
  tag(reference: string, tag: string): Promise<void>
}

/** Error codes of the OCI distribution specification; crane passes them on in its message. */
const ABSENT = /\b(MANIFEST_UNKNOWN|NAME_UNKNOWN)\b|\b404 Not Found\b/

/** @param crane Path of the program. */
export function openRegistry(crane: string): Registry {
  return {
    findDigest: (reference, platform) =>
      run(crane, ['digest', ...(platform === undefined ? [] : ['--platform', platform]), reference]).then(
        (digest) => digest.trim(),
        (error: Error) => {
          if (ABSENT.test(error.message)) return undefined
          throw error
        },
      ),
    push: async (folder, reference) => void (await run(crane, ['push', folder, reference])),
    tag: async (reference, tag) => void (await run(crane, ['tag', reference, tag])),
  }
}
