import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringifyJson } from '../../src/base/json/json.ts';
import type { ToolDocument } from '../../src/index.ts';
import { open } from './open.ts';

/** Replaces SECRET by [hidden] and denies FORBIDDEN. Records each text that it sees. */
export const guard = `#!/usr/bin/env python3
import json, sys
def judge(response):
    content = response["content"]
    open("seen.jsonl", "a").write(json.dumps([content, response["error"]]) + "\\n")
    if "FORBIDDEN" in content:
        return {"allow": False, "reason": "forbidden"}
    if "SECRET" in content:
        hidden = content.replace("SECRET", "[hidden]").replace('"BREAK"', "BREAK")
        return {"allow": True, "replace": {"content": hidden}}
    return {"allow": True}
for line in sys.stdin:
    request = json.loads(line)
    result = judge(request["params"]["response"])
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
`;

/** Records each event, and allows it. */
const watcher = `#!/bin/sh
cat >> seen.jsonl; echo '{"allow": true}'
`;

export const spec = (hooks = '') => `
tools:
  t: {mcp: {result: content}, exec: {command: cat, args: [reply.json], max_output_bytes: 200000000}}
  typed:
    mcp: {result: content}
    output_schema: {type: object, required: [n], properties: {n: {type: integer}, note: {type: string}}}
    exec: {command: cat, args: [reply.json]}
  plain: {exec: {command: cat, args: [reply.json]}}
${hooks}`;
export const guarded = spec(
  'hooks:\n  guard: {command: ./guard.py, runtime: server, hook: tool, phases: [after_execution], timeout_ms: 60000, max_output_bytes: 200000000}\n',
);

export async function openDesk(config: string, program = guard) {
  const { runtime, folder } = await open(config, {}, { 'guard.py': program, 'watcher.sh': watcher });
  return {
    runtime,
    answer: async (result: unknown, tool = 't'): Promise<ToolDocument> => {
      rmSync(join(folder, 'seen.jsonl'), { force: true });
      const text = typeof result === 'string' ? result : stringifyJson(result);
      writeFileSync(join(folder, 'reply.json'), `{"result":${text}}`);
      return await runtime.tools.call(tool);
    },
    shown: () => readFileSync(join(folder, 'seen.jsonl'), 'utf8'),
    seen: () =>
      readFileSync(join(folder, 'seen.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line): [string, string] => JSON.parse(line)),
  };
}

export const base64 = (bytes: string | Uint8Array) => Buffer.from(bytes).toString('base64');
export const png = base64(Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]));
export const text = (value: string) => ({ type: 'text', text: value });
export const resource = (members: object) => ({
  type: 'resource',
  resource: { uri: 'file:///a', ...members },
});
export const image = (data: string, mimeType = 'image/png') => ({ type: 'image', data, mimeType });
