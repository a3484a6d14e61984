import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * A folder for all test files in this process, because each file's own is removed at its end. It is removed with the
 * process, which vitest ends by a signal.
 */
export function makeSharedFolder(prefix: string): string {
  const folder = mkdtempSync(join(dirname(tmpdir()), prefix));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  process.once('SIGTERM', () => {
    remove();
    process.kill(process.pid, 'SIGTERM');
  });
  return folder;
}
