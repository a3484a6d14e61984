import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { run, start, workspace } from '../../cli/command-line.ts';

const upstream = `#!/usr/bin/env python3
import json, os, sys
open("pids.txt", "a").write(f"{os.getpid()}\\n")
info = {"capabilities": {"tools": {}}, "serverInfo": {"name": "up", "version": "1"}, "protocolVersion": "2025-06-18"}
tool = {"name": "echo", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    known = {"initialize": info, "tools/list": {"tools": [tool]}, "tools/call": {"content": [{"type": "text", "text": "done"}]}}
    answer = known.get(message["method"])
    reply = {"error": {"code": -32601, "message": "no"}} if answer is None else {"result": answer}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)
`;
const spec = `
mcp_servers:
  - {name: up, command: ./up.py}
  - {name: other, command: ./up.py}
  - {name: web, url: "http://127.0.0.1:9/mcp"}
`;
const folder = () => workspace(spec, { 'up.py': upstream });
const initialize =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}';
const call = '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}';

test('a client calls a tool of the server, and the end of stdin ends the program and the server', async () => {
  const cwd = folder();
  const { child, ran } = start(['mcp', '--proxy', 'up'], { cwd, stdin: null });
  const lines = createInterface(child.stdout ?? process.stdin)[Symbol.asyncIterator]();
  const ask = async (line: string) => {
    child.stdin?.write(`${line}\n`);
    return JSON.parse(String((await lines.next()).value));
  };
  expect(await ask(initialize)).toMatchObject({ id: 0, result: { serverInfo: { name: 'up' } } });
  expect(await ask(call)).toEqual({
    jsonrpc: '2.0',
    id: 2,
    result: { content: [{ type: 'text', text: 'done' }] },
  });
  child.stdin?.end();
  expect(await ran).toMatchObject({ code: 0 });
  const pids = readFileSync(`${cwd}/pids.txt`, 'utf8').trim().split('\n').map(Number);
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

test.each([
  ['mcp --proxy up --proxy other', 'over stdio, --proxy takes one server'],
  ['mcp --proxy upp', 'has no MCP server \\"upp\\"'],
  ['mcp --proxy up --http 127.0.0.1:0', '--proxy with --http needs a URL'],
  ['mcp --proxy web --http nowhere', 'must be HOST:PORT'],
  ['mcp --proxy up --tools x', '--proxy cannot be combined with --tools'],
])('`signalbox %s` is a wrong call', async (line, message) => {
  const { code, stderr } = await run(line, { cwd: folder() });
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining(message.replaceAll('\\', '')),
  });
});
