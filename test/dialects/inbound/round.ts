import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openRuntime } from '../../../src/index.ts';
import { folderOf, run } from '../../cli/command-line.ts';
import { guarded } from './guards.ts';

/** The command line by which an agent of that system runs Signalbox, from `hook export`. */
export async function exported(dialect: string, folder = guarded): Promise<string> {
  const { code, stdout, stderr } = await run(
    ['hook', 'export', '--dialect', dialect, '--config', join(folder, 'runtime.yaml')],
    { cwd: folder, binary: true },
  );
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

/**
 * Fires an event at a runtime that has Signalbox itself as a hook of that system. `imported` is the entry of
 * `spec.imports`, `files` the files that it reads.
 */
export async function openHost(imported: string, files: Readonly<Record<string, string>>) {
  const folder = folderOf({
    'runtime.yaml': `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  state_store: {type: memory}
  imports:
    - ${imported}
`,
    ...files,
  });
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  onTestFinished(() => runtime.close());
  return runtime;
}

/** Runs a shell line like an agent that Signalbox has not started. */
export const asStranger = (line: string) => `env -u SIGNALBOX_OWNER ${line}`;
