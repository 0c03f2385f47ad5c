import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Builder, buildIn, DISTRIBUTION, hasImage, withFolder } from './base-image.ts'

/** Debian's Postgres and Valkey, in images that take the variables and commands which the official ones take. */
export const TRIAL_IMAGES = {
  postgres: 'docker.io/library/postgres:17-entrypoint',
  redis: 'docker.io/valkey/valkey:8.1',
}

const START_POSTGRES = `#!/bin/bash
set -eu
programs=/usr/lib/postgresql/17/bin
test "$1" = postgres
shift
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  "$programs/initdb" --pgdata "$PGDATA" --username "$POSTGRES_USER" --pwfile <(printf %s "$POSTGRES_PASSWORD") \\
    --auth-local trust --auth-host scram-sha-256 --locale C --encoding UTF8
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  echo "create database \\"$POSTGRES_DB\\"" | "$programs/postgres" --single -D "$PGDATA" postgres
fi
exec "$programs/postgres" -D "$PGDATA" -c listen_addresses='*' "$@"
`

const INSTALL = 'apt-get install -yq --no-install-recommends'
const USER = 'groupadd --gid 999 trial && useradd --uid 999 --gid 999 --home-dir / --no-create-home trial'

/** Builds those that are not there yet. */
export async function makeTrialImages(builder: Builder): Promise<void> {
  if (!(await hasImage(TRIAL_IMAGES.postgres, builder))) {
    await withFolder(async (folder) => {
      await writeFile(join(folder, 'docker-entrypoint.sh'), START_POSTGRES, { mode: 0o755 })
      const lines = [
        `FROM ${DISTRIBUTION}`,
        `RUN apt-get update -q && ${INSTALL} postgresql-17 && ${USER}`,
        'COPY docker-entrypoint.sh /usr/local/bin/',
        'ENV PATH=/usr/lib/postgresql/17/bin:/usr/local/bin:/usr/bin:/bin',
        'USER 999:999',
        // As the official one: to end at once, not when the last client has gone.
        'STOPSIGNAL SIGINT',
        'ENTRYPOINT ["docker-entrypoint.sh"]',
        'CMD ["postgres"]',
      ]
      await buildIn(folder, { name: TRIAL_IMAGES.postgres, lines, builder })
    })
  }
  if (await hasImage(TRIAL_IMAGES.redis, builder)) return
  await withFolder(async (folder) => {
    const lines = [
      `FROM ${DISTRIBUTION}`,
      `RUN apt-get update -q && ${INSTALL} valkey-server && ln -s valkey-server /usr/bin/redis-server && ${USER}`,
      'USER 999:999',
    ]
    await buildIn(folder, { name: TRIAL_IMAGES.redis, lines, builder })
  })
}
