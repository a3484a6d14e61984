import type * as Sqlite from 'node:sqlite';
import { RuntimeError } from '../../base/errors.ts';

/**
 * Loads node:sqlite on first use, and suppresses only the ExperimentalWarning of Node 22. Throws STORE_FAILED if Node
 * lacks it.
 */
export function loadSqlite(): typeof Sqlite {
  const { emitWarning } = process;
  // The load is synchronous, so no other warning can be lost.
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (!isAboutSqlite(warning, rest[0])) Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return process.getBuiltinModule('node:sqlite') ?? fail();
  } finally {
    process.emitWarning = emitWarning;
  }
}

function isAboutSqlite(warning: string | Error, type: unknown): boolean {
  return type === 'ExperimentalWarning' && String(warning).startsWith('SQLite ');
}

function fail(): never {
  throw new RuntimeError('STORE_FAILED', 'this Node was built without node:sqlite', {
    hint: 'Use a Node from nodejs.org.',
  });
}
