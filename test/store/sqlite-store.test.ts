import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/store/open-store.ts';
import { storeContract } from './contract.ts';

storeContract('sqlite', () =>
  openStore({ type: 'sqlite', file: join(mkdtempSync(join(tmpdir(), 'state-')), '.signalbox/state.db') }),
);
