import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  type Agent,
  type Client,
  claudeCode,
  codex,
  type Server,
  type Session,
  startAgent,
} from './agent.ts';

export interface Scenario {
  readonly title: string;
  readonly client: Client;
  /** Reports what happens, a line at a time. Throws an AssertionError. */
  readonly play: (report: (line: string) => void) => Promise<void>;
}

const stories: Readonly<Record<string, (desk: Desk) => Promise<void>>> = {
  'calls a tool, learns that another one waits for a person, and gets its result after the approval': async (
    desk,
  ) => {
    const agent = await desk.start();
    const [sum] = await agent.call({ tool: 'add', args: { a: 2, b: 3 } });
    assert.match(String(sum), /"sum": ?5/);
    const id = pendingIn(await agent.call(refund(25)));
    assert.equal(pendingIn(await agent.call(refund(25))), id, 'the same call has the same id while it waits');
    assert.equal(desk.executions(), 0);
    await desk.signalbox('pending', 'approve', id, '--by', 'mara');
    const [paid] = await agent.call(refund(25));
    assert.match(String(paid), /"refunded": ?25/);
    assert.equal(desk.executions(), 1);
    assert.notEqual(pendingIn(await agent.call(refund(25))), id, 'a call after the result is a new call');
    assert.equal(desk.executions(), 1);
    await agent.end();
  },

  'reads why a person rejected a call': async (desk) => {
    const agent = await desk.start();
    const id = pendingIn(await agent.call(refund(30)));
    await desk.signalbox('pending', 'reject', id, '--by', 'mara', '--reason', 'too much money');
    const [refused] = await agent.call(refund(30));
    assert.match(String(refused), /too much money/);
    assert.equal(desk.executions(), 0);
    await agent.end();
  },

  'makes two calls in one turn, of which one is approved and one is rejected': async (desk) => {
    const agent = await desk.start();
    const waiting = await agent.call(refund(1), refund(2));
    const [first, second] = [pendingIn(waiting.slice(0, 1)), pendingIn(waiting.slice(1))];
    assert.notEqual(first, second);
    await desk.signalbox('pending', 'approve', first, '--by', 'mara');
    await desk.signalbox('pending', 'reject', second, '--by', 'mara', '--reason', 'only one');
    const [paid, refused] = await agent.call(refund(1), refund(2));
    assert.match(String(paid), /"refunded": ?1\b/);
    assert.match(String(refused), /only one/);
    assert.equal(desk.executions(), 1);
    await agent.end();
  },

  'makes the same call twice in one turn, and it runs once': async (desk) => {
    const agent = await desk.start();
    const waiting = await agent.call(refund(7), refund(7));
    const id = pendingIn(waiting.slice(0, 1));
    assert.equal(pendingIn(waiting.slice(1)), id);
    await desk.signalbox('pending', 'approve', id, '--by', 'mara');
    const [paid] = await agent.call(refund(7));
    assert.match(String(paid), /"refunded": ?7\b/);
    assert.equal(desk.executions(), 1);
    await agent.end();
  },

  'resumes a session, in which the same call gets the result of the approval': async (desk) => {
    const agent = await desk.start();
    const id = pendingIn(await agent.call(refund(40)));
    const session = await agent.end();
    await desk.signalbox('pending', 'approve', id, '--by', 'mara', '--resume');
    assert.equal(desk.executions(), 1);
    const later = await desk.start(session);
    const [paid] = await later.call(refund(40));
    assert.match(String(paid), /"refunded": ?40/);
    assert.equal(desk.executions(), 1);
    await later.end();
  },

  'makes the same call in two sessions at once, and each waits for a decision of its own': async (desk) => {
    const agents = await Promise.all([desk.start(), desk.start()]);
    const waiting = await Promise.all(agents.map(async (agent) => await agent.call(refund(50))));
    const [first, second] = waiting.map(pendingIn);
    assert.notEqual(first, second);
    await desk.signalbox('pending', 'approve', String(first), '--by', 'mara');
    const again = await Promise.all(agents.map(async (agent) => await agent.call(refund(50))));
    assert.match(String(again[0]), /"refunded": ?50/);
    assert.equal(pendingIn(again[1] ?? []), second);
    assert.equal(desk.executions(), 1);
    await Promise.all(agents.map(async (agent) => await agent.end()));
  },

  'is killed in the middle of a call, and leaves no process': async (desk) => {
    const agent = await desk.start();
    agent.call({ tool: 'wait', args: {} }).catch(() => {});
    const started = await desk.waitFor(() => desk.read('pids')?.trim().split('\n'));
    const pids = desk.serverStays ? started.slice(1) : started;
    assert.deepEqual(alive(pids), pids);
    await agent.kill();
    await desk.waitFor(() => (alive(pids).length === 0 ? true : undefined));
  },
};

export const scenarios: readonly Scenario[] = [
  { client: claudeCode, transport: 'stdio' },
  { client: codex, transport: 'stdio' },
  { client: claudeCode, transport: 'HTTP' },
  { client: codex, transport: 'HTTP' },
].flatMap(({ client, transport }) =>
  Object.entries(stories).map(([title, story]) => ({
    title: `${client.title} over ${transport} ${title}`,
    client,
    play: async (report) => {
      await using desk = await openDesk(client, transport, report);
      await story(desk);
    },
  })),
);

const refund = (cents: number) => ({ tool: 'refund', args: { cents } });

/** The id of the call that the agent must wait for. The text says how a person decides. */
function pendingIn(results: readonly string[]): string {
  const [, id = ''] = /signalbox pending approve (\S+?)[`\s]/.exec(String(results)) ?? [];
  assert.match(id, /^pending_/, `the agent does not learn which call waits: ${String(results)}`);
  return id;
}

/** Those of the processes that run. */
function alive(pids: readonly string[]): string[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=,stat=', '-p', pids.join()], { encoding: 'utf8' });
  const running = stdout.split('\n').filter((line) => !/Z/.test(line));
  return pids.filter((pid) => running.some((line) => line.trim().startsWith(`${pid} `)));
}

const program = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** Over stdio, the agents are asked first. They answer at once that nobody is there, and the call keeps waiting. */
const filesFor = (transport: string) => ({
  'runtime.yaml': `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  state_store: {type: sqlite, path: state.db}
  mcp: ${transport === 'HTTP' ? '{auth: {required: true}}' : '{decide: caller}'}
  tools:
    add:
      description: Adds two numbers.
      annotations: {read_only: true}
      input_schema: {type: object, required: [a, b], properties: {a: {type: integer}, b: {type: integer}}}
      exec: {command: ./add.sh}
    refund:
      description: Pays money back.
      approval: {message: "Refund \${args.cents} cents?"}
      input_schema: {type: object, required: [cents], properties: {cents: {type: integer}}}
      exec: {command: ./refund.sh}
    wait:
      description: Waits for ten minutes.
      exec: {command: ./wait.sh, timeout_ms: 600000}
`,
  'add.sh': `#!/bin/sh
read -r line
a=\${line#*'"a":'}; b=\${line#*'"b":'}
echo "{\\"result\\": {\\"sum\\": $((\${a%%[,\\}]*} + \${b%%[,\\}]*}))}}"
`,
  'refund.sh': `#!/bin/sh
read -r line
echo "$line" >> executions
cents=\${line#*'"cents":'}
echo "{\\"result\\": {\\"refunded\\": \${cents%%[,\\}]*}}}"
`,
  'wait.sh': `#!/bin/sh
sleep 600 &
printf '%s\\n' $PPID $$ $! > pids.new && mv pids.new pids
wait
`,
});

interface Desk extends AsyncDisposable {
  /** Without a session, a new one. Over HTTP, each session has a key of its own. */
  readonly start: (session?: Session) => Promise<Agent>;
  /** Runs a command as a person does at a shell. */
  readonly signalbox: (...args: readonly string[]) => Promise<string>;
  /** How many times the tool `refund` ran. */
  readonly executions: () => number;
  readonly read: (file: string) => string | undefined;
  /** Whether the server outlives its agents. */
  readonly serverStays: boolean;
  readonly waitFor: <T>(find: () => T | undefined) => Promise<T>;
}

/** A folder with a config, its tools and a state store; over HTTP also the server, with a key for its callers. */
async function openDesk(client: Client, transport: string, report: (line: string) => void): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), 'agents-'));
  for (const [name, text] of Object.entries(filesFor(transport))) {
    writeFileSync(join(folder, name), text);
    if (name.endsWith('.sh')) chmodSync(join(folder, name), 0o755);
  }
  const ran = async (...args: readonly string[]) =>
    (await promisify(execFile)(process.execPath, [program, ...args], { cwd: folder })).stdout;
  const served = transport === 'HTTP' ? await serve(folder) : undefined;
  const command = [process.execPath, program, 'mcp', '--config', join(folder, 'runtime.yaml')] as const;
  const agents: Agent[] = [];
  const newServer = async (): Promise<Server> => {
    if (served === undefined) return { command };
    const { key } = JSON.parse(await ran('keys', 'create', randomUUID(), '--tools', '*', '--json'));
    return { url: served.url, key };
  };
  const read = (file: string) =>
    existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : undefined;
  return {
    async start(session) {
      const server = session?.server ?? (await newServer());
      const agent = await startAgent(client, { server, session: session ?? folder });
      agents.push(agent);
      report(`$ ${client.title} ${session ? 'resumes its session' : 'starts'}`);
      return {
        ...agent,
        async call(...calls) {
          const results = await agent.call(...calls);
          for (const [at, { tool, args }] of calls.entries())
            report(`${tool} ${JSON.stringify(args)}\n${results[at]?.replace(/^/gm, '    ')}`);
          return results;
        },
      };
    },
    async signalbox(...args) {
      const stdout = await ran(...args);
      report(`$ signalbox ${args.join(' ')}\n${stdout.trimEnd().replace(/^/gm, '    ')}`);
      return stdout;
    },
    executions: () => (read('executions') ?? '').split('\n').length - 1,
    read,
    serverStays: served !== undefined,
    async waitFor(find) {
      for (let tries = 0; tries < 600; tries++) {
        const found = find();
        if (found !== undefined) return found;
        await sleep(50);
      }
      throw new Error('it did not happen within 30 seconds');
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(agents.map(async (agent) => await agent.kill()));
      await served?.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function serve(folder: string) {
  const args = [program, 'mcp', '--http', '127.0.0.1:0', '--json'];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  return {
    url: JSON.parse(line).url,
    async close() {
      child.kill();
      if (child.exitCode === null) await once(child, 'close');
    },
  };
}
