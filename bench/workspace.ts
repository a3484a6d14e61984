import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRuntime, type Runtime, type RuntimeOptions } from '../src/index.ts';

const folders = new Set<() => void>();
process.once('exit', () => {
  for (const remove of folders) remove();
});

/** Creates a folder with these executable files. It is removed at the latest when the process exits. */
export function makeFolder(files: Readonly<Record<string, string>>): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
  const remove = () => {
    rmSync(path, { recursive: true, force: true });
    folders.delete(remove);
  };
  folders.add(remove);
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(path, name), content);
    chmodSync(join(path, name), 0o755);
  }
  return { path, remove };
}

/** Opens a runtime for a folder's runtime.yaml, without logging. */
export async function open(folder: string, options: RuntimeOptions = {}): Promise<Runtime> {
  return await openRuntime(join(folder, 'runtime.yaml'), { log: false, ...options });
}

/** Opens a runtime for a file with this `spec`, in a folder that is removed when the process exits. */
export async function openSpec(spec: object, options: RuntimeOptions = {}): Promise<Runtime> {
  return await openRuntime(writeSpec(spec), { log: false, ...options });
}

/**
 * Writes a RuntimeConfig with this `spec` as JSON, which is valid YAML, to a folder that is removed when the process
 * exits.
 */
export function writeSpec(spec: object): string {
  const document = { apiVersion: 'signalbox/v1', kind: 'RuntimeConfig', spec };
  return join(makeFolder({ 'runtime.yaml': JSON.stringify(document) }).path, 'runtime.yaml');
}
