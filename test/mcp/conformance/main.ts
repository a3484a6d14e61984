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
    return await runSuite([
      'server',
      '--url',
      url,
      '--requirements',
      revision,
      '--expected-failures',
      expected,
    ]);
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
      const { output } = await runSuite(['server', '--url', url, '--requirements', revision]);
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

/** Extensions that the suite does not score. */
const extensions = [
  'auth/client-credentials-basic',
  'auth/client-credentials-jwt',
  'auth/enterprise-managed-authorization',
];

/** The scenarios that a client has to pass, in the order of the suite. */
async function clientScenarios(revision: Revision): Promise<string[]> {
  const { output } = await runSuite(['list', '--requirements', revision]);
  const required = output.split('Run and reported').at(0)?.split('Client scenarios').at(1) ?? '';
  const names = [...required.matchAll(/^ {2}- (\S+)$/gm)].map(([, name]) => name ?? '');
  return revision === '2026-07-28' ? [...names, ...extensions] : names;
}

/**
 * Runs the scenarios of clients against client.ts, two at once, since the suite would start all of them together. Returns
 * a line for each.
 */
export async function runClientConformance(revision: Revision): Promise<string[]> {
  const command = `${process.execPath} ${join(folder, 'client.ts')}`;
  const scenarios = await clientScenarios(revision);
  const lines = new Map<string, string>();
  const next = scenarios.values();
  const work = async () => {
    for (const scenario of next) {
      const about = ['--scenario', scenario, '--spec-version', revision, '--force'];
      const { code, output } = await runSuite(['client', '--command', command, ...about]);
      const counts = /Passed: (\d+)\/(\d+)/.exec(output)?.slice(1).join(' of ') ?? 'no result';
      lines.set(scenario, `${code === 0 ? '✓' : '✗'} ${scenario}: ${counts}`);
    }
  };
  await Promise.all([work(), work()]);
  return scenarios.map((scenario) => lines.get(scenario) ?? scenario);
}

async function runSuite(args: readonly string[]): Promise<Verdict> {
  const run = spawn(process.execPath, [suite, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err] = await Promise.all([text(run.stdout), text(run.stderr), once(run, 'close')]);
  return { code: run.exitCode, output: `${out}${err}` };
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
