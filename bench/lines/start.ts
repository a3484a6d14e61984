import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildNative } from '../native/build.ts';
import type { Bench, Line } from '../run/line.ts';
import { command } from '../ways/command.ts';
import { makeFolder } from '../workspace.ts';

const root = new URL('../../', import.meta.url);

const event = JSON.stringify({ request: { name: 'refund', args: { amount: 5 } } });
const commands = [
  { name: 'version', args: ['--version'], short: true },
  { name: 'help', args: ['--help'] },
  { name: 'tool-list', args: ['tool', 'list'] },
  { name: 'validate', args: ['validate'] },
  { name: 'tool-call', args: ['tool', 'call', 'bench', '--args', '{}'], short: true },
  {
    name: 'hook-fire',
    args: ['hook', 'fire', '--hook', 'tool', '--phase', 'before_execution', '--event', event],
  },
];

/** What a command costs from its start to its end. */
export const start: Bench = {
  name: 'start',
  about: 'commands of the built program in a small project, against `node -e 0`',
  lines: async () => {
    const program = findProgram();
    if (program === undefined) return 'skipped: there is no dist, npm run build makes it';
    const cwd = makeProject();
    return commands.map(
      ({ name, args, short = false }): Line => ({
        id: `start/${name}`,
        title: `signalbox ${args.slice(0, 2).join(' ')}`,
        unit: 'ms',
        count: 5,
        warmUp: 2,
        short,
        ways: [
          command('node -e 0', { command: [process.execPath, '-e', '0'], cwd }),
          command('signalbox', { command: [process.execPath, program, ...args], cwd }),
        ],
      }),
    );
  },
};

/** What package.json calls `signalbox`. */
function findProgram(): string | undefined {
  const { bin } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  const program = fileURLToPath(new URL(bin.signalbox, root));
  return existsSync(program) ? program : undefined;
}

function makeProject(): string {
  const answer = buildNative()?.trivial ?? './answer';
  return makeFolder({
    answer: '#!/bin/sh\nread -r request\necho \'{"result": true}\'\n',
    allow: '#!/bin/sh\nread -r request\necho \'{"allow": true}\'\n',
    'runtime.yaml': `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  tools:
    bench: {description: answers, exec: {command: ${answer}}}
  hooks:
    filter: {command: ./allow, hook: tool, phases: [before_execution]}
`,
  }).path;
}
