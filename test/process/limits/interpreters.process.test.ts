import { delimiter, dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findExecutable } from '../../../src/base/files/executable.ts';
import { bind, open } from '../harness.ts';
import { ways } from './held.ts';

const { env } = bind('echo-args');
const searchPath = [dirname(process.execPath), env['PATH']].join(delimiter);

const programs = [
  { command: 'sh', args: ['-c', 'echo fine'] },
  { command: 'python3', args: ['-c', 'import json, threading; print("fine")'] },
  { command: 'node', args: ['-e', 'console.log("fine")'] },
  { command: 'java', args: ['-version'] },
].map((each) => ({ ...each, found: findExecutable(each.command, '/', searchPath) }));

describe.runIf(process.platform === 'linux').each(ways)('limited by $way', ({ findGroups }) => {
  test.for(programs)('$command runs under every limit [DS-LIM-07]', async ({ args, found }, { skip }) => {
    if (!found.found) return skip('it is not installed here');
    const limits = { memoryMb: 512, cpuSeconds: 30, openFiles: 128, processes: 64, fileSizeMb: 16 };
    const { transport } = await open(bind(found.path, { args, limits, nice: 1 }), { findGroups });
    const reply = await transport.exchange({ method: 'execute', body: '{}' });
    expect(reply).toMatchObject({ via: 'process', exitCode: 0 });
  });
});
