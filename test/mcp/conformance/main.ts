import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { builtProgram } from '../../built.ts';
import { workspace } from '../../workspace.ts';

// Runs the official conformance suite of MCP against the built `signalbox mcp`: `npm run conformance`.

export const revisions = ['2026-07-28', '2025-11-25'] as const;
type Revision = (typeof revisions)[number];

const folder = import.meta.dirname;
const suite = join(folder, '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js');

export interface Verdict {
  readonly code: number | null;
  readonly output: string;
}

/** Runs the suite of a revision. The code is 0 if exactly the expected checks fail. */
export async function runConformance(revision: Revision): Promise<Verdict> {
  const config = join(folder, 'runtime.yaml');
  const expected = join(folder, `expected-failures-${revision}.yml`);
  const { url, stop } = await start([builtProgram, 'mcp', '--config', config, '--http', '127.0.0.1:0']);
  try {
    return await runSuite(url, ['--requirements', revision, '--expected-failures', expected]);
  } finally {
    await stop();
  }
}

/**
 * Runs the suite of a revision against a server with everything that it asks for, directly and behind
 * `signalbox mcp --proxy`. Returns the line of each scenario.
 */
export async function runBehindProxy(
  revision: Revision,
): Promise<{ readonly direct: string[]; readonly proxied: string[] }> {
  const everything = await start([join(folder, '../proxy/everything.ts')]);
  const pass = 'resources, prompts, completions, logging, elicitation, subscriptions, sampling, roots';
  const server = `{name: everything, url: "${everything.url}", pass: [${pass}]}`;
  const config = `${workspace(`state_store: {type: memory}\nmcp_servers:\n  - ${server}\n`)}/runtime.yaml`;
  const listen = ['--proxy', 'everything', '--http', '127.0.0.1:0'];
  const proxy = await start([builtProgram, 'mcp', '--config', config, ...listen]);
  try {
    const linesOf = async (url: string) => {
      const { output } = await runSuite(url, ['--requirements', revision]);
      return output.split('\n').filter((line) => /^[✓✗] [\w-]+: \d+ passed, \d+ failed/.test(line));
    };
    return { direct: await linesOf(everything.url), proxied: await linesOf(proxy.url) };
  } finally {
    await proxy.stop();
    await everything.stop();
  }
}

/** Starts a program that prints a URL. */
async function start(args: readonly string[]): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(server.stdout), 'line');
  const stop = async () => {
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    await ended;
  };
  return { url: /http:\S+/.exec(line)?.[0] ?? '', stop };
}

async function runSuite(url: string, options: readonly string[]): Promise<Verdict> {
  const client = spawn(process.execPath, [suite, 'server', '--url', url, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err] = await Promise.all([text(client.stdout), text(client.stderr), once(client, 'close')]);
  return { code: client.exitCode, output: `${out}${err}` };
}

if (import.meta.main) {
  for (const revision of revisions) {
    const { code, output } = await runConformance(revision);
    process.stdout.write(output.slice(output.indexOf('=== SUMMARY ===')));
    process.stdout.write(`\n${revision}: ${code === 0 ? 'as expected' : 'not as expected'}\n\n`);
    if (code !== 0) process.exitCode = 1;
    const { direct, proxied } = await runBehindProxy(revision);
    const isSame = direct.join() === proxied.join();
    process.stdout.write(`Behind --proxy:\n${proxied.join('\n')}\n`);
    process.stdout.write(
      `\n${revision}: ${isSame ? 'the same lines as without it' : 'not the same lines as without it'}\n\n`,
    );
    if (!isSame) process.exitCode = 1;
  }
}
