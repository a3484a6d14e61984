/** Hooks as PicoClaw's pages show them: a loop over the lines of stdin, one answer for each request. */

/** The loop of the Python example. `handlers` has a `handle_<method>(params)` for each method except the hello. */
export function pythonHook(handlers: string): string {
  return `#!/usr/bin/env python3
import json
import sys


def handle_hello(params):
    return {"ok": True, "name": "python-review-gate"}


${handlers}

def main():
    for raw in sys.stdin:
        line = raw.strip()
        if not line:
            continue
        message = json.loads(line)
        if "id" not in message:
            continue
        handle = globals()["handle_" + message["method"].removeprefix("hook.")]
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": handle(message.get("params") or {})}
        sys.stdout.write(json.dumps(reply) + "\\n")
        sys.stdout.flush()


main()
`;
}

export function nodeHook(handlers: string): string {
  return `#!/usr/bin/env node
const readline = require('node:readline');
const handlers = {
  hello: () => ({ ok: true, name: 'node-hook' }),
${handlers}
};
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = handlers[method.replace('hook.', '')](params);
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
});
`;
}

/**
 * The same in sh. `answers` are the branches of a `case` over the line, which may run `answer <result>`, `fail <error>`
 * or nothing. Requests are appended to the file of `log`.
 */
export function shHook(answers: string, { log = '/dev/null', first = ':' } = {}): string {
  return `#!/bin/sh
${first}
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$1"; }
fail() { printf '{"jsonrpc":"2.0","id":%s,"error":%s}\\n' "$id" "$1"; }
while IFS= read -r line; do
  id=\${line#*'"id":'}
  id=\${id%%[,\\}]*}
  printf '%s\\n' "$line" >>${log}
  case "$line" in
    *'"method":"hook.hello"'*) answer '{"ok":true}' ;;
${answers}
  esac
done
`;
}

export function entry(name: string, block: string, more = ''): string {
  return `  ${name}: {dialect: picoclaw, command: ./${name}, ${more === '' ? '' : `${more}, `}picoclaw: {${block}}}`;
}

/** The parsed messages in a log of shHook, without the hellos. */
export function messagesIn(
  text: string,
): { readonly method: string; readonly params: Record<string, unknown> }[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter(({ method }) => method !== 'hook.hello');
}
