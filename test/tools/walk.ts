import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openRuntime } from '../../src/runtime/open-runtime.ts';

const src = new URL('../../src/', import.meta.url).href;

/** Calls whose path through src is counted. */
export type Walk = 'tool' | 'guarded tool' | 'gateway' | 'streamed gateway';

/** The src files with a function that runs during such a call. A first call initializes what all calls share. */
export async function walk(kind: Walk): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'walk-'));
  try {
    for (const [name, text] of Object.entries(programs))
      writeFileSync(join(folder, name), text, { mode: 0o755 });
    writeFileSync(join(folder, 'runtime.yaml'), `${config}${kind === 'tool' ? '' : guards}`);
    await using runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
    const gateway = runtime.gateway();
    const call = async () => {
      if (kind === 'tool' || kind === 'guarded tool') {
        const { status } = await runtime.tools.call('echo', { city: 'Oslo' });
        if (status !== 'ok') throw new Error(`the tool was ${status}`);
        return;
      }
      const body = {
        model: 'm',
        stream: kind === 'streamed gateway',
        messages: [{ role: 'user', content: 'Hi' }],
      };
      const headers = { 'content-type': 'application/json' };
      const url = 'http://127.0.0.1/v1/chat/completions';
      const response = await gateway.fetch(
        new Request(url, { method: 'POST', headers, body: JSON.stringify(body) }),
      );
      const text = await response.text();
      if (response.status !== 200) throw new Error(text);
    };
    await call();
    return await filesOf(call);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** False for files with the vocabulary of every stage, with system calls, or with the sweep that runs in parallel. */
export function isStage(file: string): boolean {
  return !/^(base|contract|process\/launch\/system|process\/orphans)\//.test(file);
}

const programs = {
  'tool.sh': '#!/bin/sh\nread -r request\nprintf \'{"result": %s}\\n\' "$request"\n',
  'guard.sh': '#!/bin/sh\ncat > /dev/null\necho \'{"allow": true}\'\n',
};
const config = `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  gateway: {}
  providers: [{id: main, type: mock, model: m, additional_config: {responses: [{text: Hello}]}}]
  tools:
    echo:
      exec: {command: ./tool.sh}
      input_schema: {type: object, required: [city], properties: {city: {type: string}}}
`;
const guards = `  hooks:
    tools: {hook: tool, phases: [before_execution, after_execution], mode: filter, command: ./guard.sh}
    models: {hook: provider, phases: [before_call, after_call], mode: filter, command: ./guard.sh}
`;

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
  for (const kind of ['tool', 'guarded tool', 'gateway', 'streamed gateway'] as const) {
    const files = await walk(kind);
    const stages = files.filter(isStage);
    process.stdout.write(
      `${kind}\n${stages.join('\n')}\n${stages.length} files of stages, ${files.length} in all\n\n`,
    );
  }
}
