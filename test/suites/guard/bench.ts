import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openRuntime, type Runtime, type RuntimeEvent, type RuntimeOptions } from '../../../src/index.ts';
import { fixture } from '../../process/harness.ts';

/** A server that flags texts with its first argument. The number after `sure=` is its confidence. */
const flagsWord = `#!/bin/sh
while IFS= read -r line; do
  id=\${line#*'"id":'}
  case $line in *dies*) exit 9 ;; esac
  metadata=
  case $line in *sure=*)
    sure=\${line#*sure=}
    metadata="\\"confidence\\": \${sure%%[!0-9.]*}"
    ;;
  esac
  answer='"allow": true'
  case $line in *"$1"*) answer="\\"allow\\": false, \\"reason\\": \\"it says $1\\"" ;; esac
  printf '{"jsonrpc": "2.0", "id": %s, "result": {%s, "metadata": {%s}}}\\n' "\${id%%,*}" "$answer" "$metadata"
done
`;

export interface Desk {
  readonly runtime: Runtime;
  readonly events: readonly RuntimeEvent[];
  readonly folder: string;
  readonly suite: string;
  readonly file: string;
}

export interface Given {
  /** `spec.hooks`. `$bin` is the folder of the fixtures, and `./flags-word` the server above. */
  readonly hooks: string;
  readonly spec: string;
  readonly rows?: readonly unknown[];
  readonly options?: RuntimeOptions;
  readonly more?: string;
}

export async function openDesk({ hooks, spec, rows = [], options = {}, more = '' }: Given): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), 'guard-'));
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text.replaceAll('$bin', fixture('.')));
    return join(folder, name);
  };
  chmodSync(write('flags-word', flagsWord), 0o755);
  const file = write(
    'runtime.yaml',
    `apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec:\n${indent(`${more}\nhooks:\n${indent(hooks)}`)}`,
  );
  const suite = write(
    'guard.suite.yaml',
    `apiVersion: signalbox/v1\nkind: EvalSuite\nspec:\n${indent(`dataset: {path: rows.jsonl}\n${spec}`)}`,
  );
  write('rows.jsonl', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const events: RuntimeEvent[] = [];
  const runtime = await openRuntime(file, { log: false, onEvent: (event) => events.push(event), ...options });
  onTestFinished(() => runtime.close());
  return { runtime, events, folder, suite, file };
}

export async function resultsOf({ runtime }: Desk, runId: string) {
  const { cases } = await runtime.evals.runs.open(runId);
  const found = [];
  for await (const { id, epochs } of cases()) found.push({ id, ...epochs[0]?.results[0] });
  return found;
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}
