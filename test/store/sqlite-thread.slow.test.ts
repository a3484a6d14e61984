import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { storeContract } from './contract.ts';
import { belowContract } from './contract-below.ts';
import { newFile } from './processes.ts';

// Slow, because each test starts a thread that compiles its modules anew.
storeContract('sqlite, written by a thread of its own', () => openSqliteStore(newFile(), { writer: 'own' }));
belowContract('sqlite, written by a thread of its own', () => openSqliteStore(newFile(), { writer: 'own' }));
