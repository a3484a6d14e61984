import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { builtProgram } from '../../built.ts';

// Runs the official conformance suite of MCP against the built `signalbox mcp`: `npm run conformance`.

export const revisions = ['2026-07-28', '2025-11-25'] as const;

const folder = import.meta.dirname;
const suite = join(folder, '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js');

export interface Verdict {
  readonly code: number | null;
  readonly output: string;
}

/** Runs the suite of a revision. The code is 0 if exactly the expected checks fail. */
export async function runConformance(revision: (typeof revisions)[number]): Promise<Verdict> {
  const config = join(folder, 'runtime.yaml');
  const args = [builtProgram, 'mcp', '--config', config, '--http', '127.0.0.1:0', '--json'];
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = await once(createInterface(server.stdout), 'line');
    const { url } = JSON.parse(line);
    const expected = join(folder, `expected-failures-${revision}.yml`);
    const options = ['--url', url, '--requirements', revision, '--expected-failures', expected];
    const client = spawn(process.execPath, [suite, 'server', ...options], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [out, err] = await Promise.all([text(client.stdout), text(client.stderr), once(client, 'close')]);
    return { code: client.exitCode, output: `${out}${err}` };
  } finally {
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    await ended;
  }
}

if (import.meta.main) {
  for (const revision of revisions) {
    const { code, output } = await runConformance(revision);
    process.stdout.write(output.slice(output.indexOf('=== SUMMARY ===')));
    process.stdout.write(`\n${revision}: ${code === 0 ? 'as expected' : 'not as expected'}\n\n`);
    if (code !== 0) process.exitCode = 1;
  }
}
