import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/store/open-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { storeContract } from './contract.ts';
import { newFile } from './processes.ts';

storeContract('sqlite', () =>
  openStore({ type: 'sqlite', file: join(mkdtempSync(join(tmpdir(), 'state-')), '.signalbox/state.db') }),
);

storeContract('sqlite, written by a thread of its own', () => openSqliteStore(newFile(), { writer: 'own' }));
