import { compileSchema } from '../../src/base/yaml/schema-check.ts';
import type { Link } from '../../src/calls/hooks/gate.ts';
import type { CallableTool, CallResult } from '../../src/calls/tool-call/callable-tool.ts';
import { answering, type Bench, type Entry } from '../calls/capability/bench.ts';
import type { Transport } from '../cite.ts';

interface Around extends Pick<CallableTool, 'approval' | 'idempotent'> {
  readonly links?: readonly Link[];
  readonly input?: Readonly<Record<string, unknown>>;
  readonly output?: Readonly<Record<string, unknown>>;
}

export function refund(
  bench: Bench,
  entry: Entry,
  { links = [], input, output, ...rest }: Around = {},
): CallableTool {
  return {
    name: 'refund',
    port: bench.tool({ name: 'refund', ...entry }),
    checkArgs: compileSchema(input),
    checkResult: compileSchema(output),
    links,
    ...rest,
  };
}

export function giving(on: Transport, result: string): Entry {
  return answering(on, on === 'oneshot' ? `{"result": ${result}}` : result);
}

export const failing: Record<Transport, Entry> = {
  oneshot: answering('oneshot', '{"error": "city not found"}'),
  server: {
    on: 'server',
    runs: ['server-prints', '{"id":ID,"error":{"code":1,"message":"city not found"}}'],
  },
};

export function say({ outcome, content, metadata }: CallResult): unknown {
  const said = { content, metadata: metadata.text };
  switch (outcome.status) {
    case 'ok':
      return { ok: outcome.result.text, ...said };
    case 'failed':
      return { failed: outcome.error.code, ...said };
    case 'denied':
      return { denied: outcome.hook, reason: outcome.reason, ...said };
    case 'pending':
      return { pending: [outcome.reason, outcome.message], ...said };
  }
}

/** An entry that waits for a person until it is approved. */
export const asking: Record<Transport, Entry> = {
  oneshot: { runs: ['pending.sh'] },
  server: { on: 'server', runs: ['server', 'pending'] },
};
