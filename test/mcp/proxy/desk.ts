import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import { openRuntime } from '../../../src/index.ts';
import { proxyOverStdio } from '../../../src/mcp/serve.ts';
import { workspace } from '../../workspace.ts';

/**
 * A server over stdio that sends what `script.json` says for a method, or for `tools/call NAME`: lines with $ID for the
 * ID of the request. It keeps the lines that it gets.
 */
const upstream = `#!/usr/bin/env python3
import json, os, sys, time
script = json.load(open("script.json"))
for line in sys.stdin:
    open(f"received-{os.getpid()}.txt", "a").write(line)
    message = json.loads(line)
    method = message.get("method", "response")
    params = message.get("params") or {}
    key = f"{method} {params.get('name')}"
    for text in script.get(key, script.get(method, [])):
        if text == "EXIT": os._exit(3)
        if text.startswith("SLEEP "): time.sleep(float(text[6:])); continue
        if text.startswith("FLOOD "): text = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"' + "x" * int(text[6:]) + '"}}'
        sys.stdout.write(text.replace("$ID", json.dumps(message.get("id"), ensure_ascii=False)) + "\\n")
        sys.stdout.flush()
`;

/** Denies what has FORBIDDEN, hides SECRET, and keeps what it sees. */
export const guard = `#!/usr/bin/env python3
import json, sys, time
def judge(event):
    name, after = event["request"]["name"], "response" in event
    text = event["response"]["content"] if after else json.dumps(event["request"]["args"])
    open("seen.jsonl", "a").write(json.dumps(["after" if after else "before", name, text]) + "\\n")
    if "SLOW" in text: time.sleep(0.3)
    if "FORBIDDEN" in text: return {"allow": False, "reason": "forbidden"}
    if "SECRET" not in text: return {"allow": True}
    text = text.replace("SECRET", "[hidden]")
    return {"allow": True, "replace": {"content": text} if after else {"args": json.loads(text)}}
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": judge(request["params"])}), flush=True)
`;

export const guarded = `hooks:
  guard: {command: ./guard.py, runtime: server, hook: tool, phases: [before_execution, after_execution]}
`;

export type Script = Readonly<Record<string, readonly string[]>>;

export const tools = (...definitions: readonly string[]) =>
  `{"jsonrpc":"2.0","id":$ID,"result":{"tools":[${definitions.join(',')}]}}`;
export const tool = (name: string, more = '') => `{"name":"${name}","inputSchema":{"type":"object"}${more}}`;
export const result = (text: string) => `{"jsonrpc":"2.0","id":$ID,"result":${text}}`;

const usual: Script = {
  'server/discover': ['{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"Method not found"}}'],
  initialize: [
    result(
      '{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{},"prompts":{},"completions":{},"logging":{}},"serverInfo":{"name":"up","version":"1"}}',
    ),
  ],
  'tools/list': [tools(tool('echo'))],
  ping: [result('{}')],
};

export const initialize =
  '{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"the client","version":"1"}}}';

export interface Desk {
  readonly folder: string;
  readonly runtime: Awaited<ReturnType<typeof openRuntime>>;
  readonly closed: Promise<void>;
  readonly stdin: PassThrough;
  readonly log: readonly string[];
  /** The next line for the client. */
  next(): Promise<string>;
  /** Sends a line, and returns the next one for the client. */
  ask(line: string): Promise<string>;
  /** What the upstream got from the client, after its first message. Without the proxy's own requests. */
  received(): string[];
  /** What the hooks saw of the client's messages: the phase, the name of the call, and the text. */
  seen(): [string, string, string][];
  close(): Promise<void>;
  /** Another client, with a connection of its own. */
  reopen(): Promise<Desk>;
}

/** A client over stdio, behind the proxy and in front of a scripted server called `up`. */
export async function openDesk(
  script: Script,
  {
    spec = guarded,
    server = '',
    begin = initialize,
    files = {},
  }: { spec?: string; server?: string; begin?: string; files?: Record<string, string> } = {},
): Promise<Desk> {
  const pass = 'resources, prompts, completions, logging, elicitation, subscriptions, sampling, roots';
  const usualPass = server.includes('pass:') ? '' : `, pass: [${pass}]`;
  const config = `state_store: {type: sqlite, path: state.db}\nmcp_servers:\n  - {name: up, command: ./up.py, working_dir: .${usualPass}${server}}\n${spec}`;
  const all = {
    'up.py': upstream,
    'guard.py': guard,
    'script.json': JSON.stringify({ ...usual, ...script }),
    ...files,
  };
  const folder = workspace(config, all);
  return await connect(folder, begin);
}

async function connect(folder: string, begin: string): Promise<Desk> {
  const runtime = await openRuntime(`${folder}/runtime.yaml`, { log: false });
  onTestFinished(async () => await runtime.close());
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const log: string[] = [];
  const report = (line: string) => void log.push(line);
  const { close, closed } = await proxyOverStdio(runtime, { servers: ['up'], report, stdin, stdout });
  onTestFinished(close);
  const lines = createInterface(stdout)[Symbol.asyncIterator]();
  const next = async () => String((await lines.next()).value);
  const ask = async (line: string) => {
    stdin.write(`${line}\n`);
    return await next();
  };
  if (begin !== '') await ask(begin);
  return {
    reopen: async () => await connect(folder, ''),
    ...{ folder, runtime, closed, stdin, log, next, ask, close },
    received: () => {
      const files = readdirSync(folder).filter((name) => name.startsWith('received-'));
      const [own = ''] = files
        .map((name) => readFileSync(join(folder, name), 'utf8'))
        .filter((text) => text.includes('"the client"'));
      return own
        .trim()
        .split('\n')
        .slice(1)
        .filter((line) => !line.includes('"id":"signalbox-'));
    },
    seen: () => {
      const file = join(folder, 'seen.jsonl');
      return existsSync(file)
        ? readFileSync(file, 'utf8')
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line))
        : [];
    },
  };
}
