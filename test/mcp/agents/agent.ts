import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ModelCall, openModel, type Turn } from './model.ts';

/** How an agent reaches `signalbox mcp`. */
export type Server =
  | { readonly command: readonly [string, ...string[]] }
  | { readonly url: string; readonly key: string };

interface Launch {
  readonly modelUrl: string;
  readonly server: Server;
  /** A folder for the files of the agent. */
  readonly home: string;
  /** The id of the session to go on with. */
  readonly session: string | undefined;
}

export interface Session {
  readonly id: string;
  readonly home: string;
  readonly server: Server;
}

export interface Client {
  readonly title: string;
  /** The program; empty if it is not installed. */
  readonly program: string;
  readonly launch: (given: Launch) => { readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv };
  readonly session: RegExp;
}

function programOf(name: string, variable: string): string {
  return process.env[variable] ?? spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim();
}

const KEY_VARIABLE = 'SIGNALBOX_KEY';

export const claudeCode: Client = {
  title: 'Claude Code',
  program: programOf('claude', 'SIGNALBOX_CLAUDE_CODE'),
  launch: ({ modelUrl, server, home, session }) => {
    const headers = { Authorization: `Bearer \${${KEY_VARIABLE}}` };
    const signalbox =
      'url' in server
        ? { type: 'http', url: server.url, headers }
        : { command: server.command[0], args: server.command.slice(1) };
    writeFileSync(join(home, 'mcp.json'), JSON.stringify({ mcpServers: { signalbox } }));
    return {
      args: [
        ...['-p', 'go', '--output-format', 'json', ...(session === undefined ? [] : ['--resume', session])],
        ...['--strict-mcp-config', '--mcp-config', join(home, 'mcp.json')],
        ...['--tools=', '--allowedTools', 'mcp__signalbox'],
      ],
      env: {
        ANTHROPIC_BASE_URL: modelUrl,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    };
  },
  session: /"session_id":"([^"]+)"/,
};

export const codex: Client = {
  title: 'Codex',
  program: programOf('codex', 'SIGNALBOX_CODEX'),
  launch: ({ modelUrl, server, home, session }) => {
    const signalbox =
      'url' in server
        ? [`url = "${server.url}"`, `bearer_token_env_var = "${KEY_VARIABLE}"`]
        : [
            `command = ${JSON.stringify(server.command[0])}`,
            `args = ${JSON.stringify(server.command.slice(1))}`,
          ];
    writeFileSync(
      join(home, 'config.toml'),
      `model = "m"
model_provider = "script"
[model_providers.script]
name = "script"
base_url = "${modelUrl}/v1"
wire_api = "responses"
[mcp_servers.signalbox]
required = true
default_tools_approval_mode = "approve"
${signalbox.join('\n')}
`,
    );
    return {
      args: [
        ...['exec', ...(session === undefined ? [] : ['resume', session])],
        ...['--skip-git-repo-check', '--json', 'go'],
      ],
      env: { CODEX_HOME: home },
    };
  },
  session: /"thread_id":"([^"]+)"/,
};

export interface Agent {
  /** Makes the model call tools in one turn. Returns what the model reads, in the order of the calls. */
  readonly call: (...calls: readonly Omit<ModelCall, 'id'>[]) => Promise<string[]>;
  /** Ends the turn of the model, waits for the end of the program, and returns its session. */
  readonly end: () => Promise<Session>;
  /** Kills the program alone, which has no time to end its servers. No effect after its end. */
  readonly kill: () => Promise<void>;
}

interface Start {
  readonly server: Server;
  /** The session to continue, or a folder for the files of a new one. */
  readonly session: Session | string;
}

const PATIENCE_MS = 90_000;

export async function startAgent(client: Client, { server, session }: Start): Promise<Agent> {
  let arrived = Promise.withResolvers<Turn>();
  const model = await openModel((turn) => arrived.resolve(turn));
  const { home, id } =
    typeof session === 'string' ? { home: mkdtempSync(join(session, 'agent-')), id: undefined } : session;
  const { args, env } = client.launch({ modelUrl: model.url, server, home, session: id });
  const key = 'key' in server ? { [KEY_VARIABLE]: server.key } : {};
  const child = spawn(client.program, args, {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, ...env, ...key },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => output.push(text));
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const patience = setTimeout(() => process.kill(-Number(child.pid), 'SIGKILL'), PATIENCE_MS);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const died = ended.then(() => {
    clearTimeout(patience);
    model.close();
    throw new Error(`${client.title} ended before its model did:\n${output.join('')}`);
  });
  died.catch(() => {});
  return {
    async call(...wanted) {
      const { answer } = await Promise.race([arrived.promise, died]);
      arrived = Promise.withResolvers();
      const calls = wanted.map((call) => ({ ...call, id: `call_${randomUUID()}` }));
      answer(calls);
      const { results } = await Promise.race([arrived.promise, died]);
      return calls.map(({ id }) => results.get(id) ?? '(no result)');
    },
    async end() {
      const { answer } = await Promise.race([arrived.promise, died]);
      answer([]);
      await ended;
      return { home, server, id: client.session.exec(output.join(''))?.[1] ?? '' };
    },
    async kill() {
      if (hasEnded()) return;
      // The program of Codex is a child of the script that npm installs.
      const { stdout } = spawnSync('ps', ['-eo', 'ppid=,pid=,comm='], { encoding: 'utf8' });
      const [, inner] = new RegExp(`^ *${child.pid} +(\\d+) +codex`, 'm').exec(stdout) ?? [];
      process.kill(Number(inner ?? child.pid), 'SIGKILL');
      await ended;
    },
  };
}
