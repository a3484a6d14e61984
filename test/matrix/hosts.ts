import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtProgram } from '../built.ts';
import { findSurvivors, settle } from '../leaks.ts';
import { fixture } from './entry.ts';

/** The result of a host of the runtime: the command line, or a program with the library. */
export interface HostResult {
  readonly title: string;
  readonly said: string;
  readonly isExpected: boolean;
}

const index = join(import.meta.dirname, '../../src/index.ts');

/** Ends the runtime’s own process during a call, leaves its stderr unread, and starts it on an older Node. */
export async function runHosts(): Promise<HostResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-hosts-'));
  const results: HostResult[] = [];
  try {
    for (const run of hostsIn(folder)) {
      const result = await run();
      // Children inherit TMPDIR, which identifies them.
      const survivors = await settle(() => findSurvivors(folder), 5_000);
      const left = survivors.map(({ pid }) => `, process ${pid} is left`).join('');
      results.push({ ...result, said: result.said + left, isExpected: result.isExpected && left === '' });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return results;
}

function hostsIn(folder: string): (() => Promise<HostResult>)[] {
  const deaf = writeConfig(folder, 'hang-ignoring-term.sh');
  const ended = (['native', 'portable'] as const).flatMap((launcher) =>
    (['SIGKILL', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGINT'] as const).flatMap((signal) => {
      const cli = [builtProgram, 'tool', 'call', 'it', '--log-level', 'info', '--config', deaf];
      return [
        () => end(folder, { title: 'the command line', signal, launcher, argv: cli }),
        () =>
          end(folder, {
            title: 'a program with the library',
            signal,
            launcher,
            argv: libraryHost(deaf, launcher),
          }),
      ];
    }),
  );
  const floods = ['flood-stderr.sh', 'flood-stderr-short-lines.sh', 'flood-stderr-one-line.sh'];
  return [...ended, ...floods.map((command) => () => runUnread(folder, command)), () => runOldNode(folder)];
}

function writeConfig(folder: string, command: string): string {
  const file = join(folder, `${command}.yaml`);
  const spec = { tools: { it: { description: 'it', exec: { command: fixture(command) } } } };
  writeFileSync(file, JSON.stringify({ apiVersion: 'signalbox/v1', kind: 'RuntimeConfig', spec }));
  return file;
}

interface Ended {
  readonly title: string;
  readonly signal: NodeJS.Signals;
  readonly launcher: string;
  readonly argv: readonly string[];
}

async function end(folder: string, { title, signal, launcher, argv }: Ended): Promise<HostResult> {
  const env = { ...process.env, TMPDIR: folder, SIGNALBOX_LAUNCHER: launcher };
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'pipe'], env });
  const exited = once(child, 'exit');
  await once(child.stderr, 'data');
  child.kill(signal);
  const [code, by] = await exited;
  child.stderr.destroy();
  return {
    title: `${title} (${launcher}), ended by ${signal}`,
    said: `it ended with ${by ?? code}`,
    isExpected: true,
  };
}

function libraryHost(config: string, launcher: string): string[] {
  const script = `
    import { openRuntime } from ${JSON.stringify(index)};
    const onEvent = ({ type, line }) => type === 'stderr' && process.stderr.write(line);
    const runtime = await openRuntime(${JSON.stringify(config)}, { log: false, launcher: '${launcher}', onEvent });
    await runtime.tools.call('it');
  `;
  return ['--input-type=module', '-e', script];
}

async function runUnread(folder: string, command: string): Promise<HostResult> {
  const argv = [builtProgram, 'tool', 'call', 'it', '--json', '--config', writeConfig(folder, command)];
  const env = { ...process.env, TMPDIR: folder };
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'pipe'], env });
  const [code] = await once(child, 'exit');
  child.stderr.destroy();
  return {
    title: `nobody reads stderr, and ${command} floods it`,
    said: `exit code ${code}`,
    isExpected: code === 0,
  };
}

async function runOldNode(folder: string): Promise<HostResult> {
  const file = join(folder, 'old.cjs');
  writeFileSync(file, `Object.defineProperty(process.versions, 'node', { value: '20.1.0' });`);
  const argv = ['--require', file, builtProgram, 'tool', 'list'];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  for await (const chunk of child.stderr) said += chunk;
  return { title: 'an older Node', said: said.trim(), isExpected: said.includes('22.18') };
}
