import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openRuntime } from '../../src/runtime/runtime.ts';

const src = new URL('../../src/', import.meta.url).href;

/** The files of src whose functions run between a call of a one-shot tool without hooks and its result. */
export async function walkOneshot(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'walk-'));
  try {
    writeFileSync(join(folder, 'tool.sh'), '#!/bin/sh\ncat >/dev/null\necho \'{"result": 1}\'\n', {
      mode: 0o755,
    });
    writeFileSync(join(folder, 'runtime.yaml'), config);
    await using runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
    const call = async () => await runtime.tools.call('tool', { amount: 1 });
    // The first call starts what all calls share.
    await call();
    return await filesOf(call);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const config = `apiVersion: promptkit.altairalabs.ai/v1alpha1
kind: RuntimeConfig
metadata: {name: walk}
spec:
  tools:
    tool:
      mode: exec
      exec: {command: ./tool.sh}
`;

/** The files of src of which a function ran meanwhile, by V8's count of calls. */
async function filesOf(work: () => Promise<unknown>): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  return result
    .filter(({ url, functions }) => url.startsWith(src) && functions.some(hasRun))
    .map(({ url }) => url.slice(src.length))
    .toSorted();
}

function hasRun({ ranges }: { readonly ranges: readonly { readonly count: number }[] }): boolean {
  return (ranges[0]?.count ?? 0) > 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await walkOneshot()).join('\n'));
