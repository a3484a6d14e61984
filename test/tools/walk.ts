import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openRuntime } from '../../src/runtime/open-runtime.ts';

const src = new URL('../../src/', import.meta.url).href;

/** The files of src of which a function runs between the call of a one-shot tool without hooks and its result. */
export async function walkOneshot(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'walk-'));
  try {
    writeFileSync(join(folder, 'tool.sh'), script, { mode: 0o755 });
    writeFileSync(join(folder, 'runtime.yaml'), config);
    await using runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
    const call = async () => {
      const { status } = await runtime.tools.call('echo', { city: 'Oslo' });
      if (status !== 'ok') throw new Error(`the tool was ${status}`);
    };
    // The first call makes ready what all calls share.
    await call();
    return await filesOf(call);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Whether the file does a stage of its own, rather than belong to the vocabulary that every stage uses, to the calls of the
 * system that Node has no names for, or to the search for what killed processes have left, which goes on beside.
 */
export function isStage(file: string): boolean {
  return !/^(errors\.ts|(json|text|files|time|contract|transport\/launch\/system|transport\/orphans)\/)/.test(
    file,
  );
}

const script = '#!/bin/sh\nread -r request\nprintf \'{"result": %s}\\n\' "$request"\n';
const config = `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  tools:
    echo:
      exec: {command: ./tool.sh}
      input_schema: {type: object, required: [city], properties: {city: {type: string}}}
`;

/** The files of src of which V8 counted a call of a function meanwhile. */
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = await walkOneshot();
  const stages = files.filter(isStage);
  process.stdout.write(`${stages.join('\n')}\n\n${stages.length} files of stages, ${files.length} in all\n`);
}
