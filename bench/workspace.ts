import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRuntime, type Runtime, type RuntimeOptions } from '../src/index.ts';

/** A folder of its own with these executable files in it. */
export function makeFolder(files: Readonly<Record<string, string>>): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(path, name), content);
    chmodSync(join(path, name), 0o755);
  }
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A runtime over a folder's runtime.yaml, silent. */
export async function open(folder: string, options: RuntimeOptions = {}): Promise<Runtime> {
  return await openRuntime(join(folder, 'runtime.yaml'), { log: false, ...options });
}
