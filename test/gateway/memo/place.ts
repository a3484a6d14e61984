import { join } from 'node:path';
import type { StateStoreConfig } from '../../../src/config/config.ts';
import type { HostEnv } from '../../../src/process/env.ts';
import type { TestServer } from '../../store/postgres/server.ts';

/** Where the tests of a file keep the memo: in a folder, unless the file says otherwise. */
export const place = {
  of: async (folder: string): Promise<{ readonly config: StateStoreConfig; readonly env: HostEnv }> => ({
    config: { type: 'sqlite', file: join(folder, 'state.db') },
    env: {},
  }),
};

/** Keeps the memo in PostgreSQL from now on, one database for each folder. */
export function keepInPostgres(server: () => TestServer): void {
  const urls = new Map<string, Promise<string>>();
  place.of = async (folder) => {
    const url = urls.get(folder) ?? server().newUrl();
    urls.set(folder, url);
    return { config: { type: 'postgres', urlEnv: 'URL', folder }, env: { URL: await url } };
  };
}
