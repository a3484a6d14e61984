import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** The duration of a command from start to exit. */
export const start: Bench = {
  name: 'start',
  about: 'commands of the built program in a small project, against `node -e 0`',
  lines: async () => {
    const program = findProgram();
    if (program === undefined) return 'skipped: there is no dist, npm run build makes it';
    const cwd = makeProject();
    return [...commandLines(program, cwd), ...agentLines(program)];
  },
};

function commandLines(program: string, cwd: string): Line[] {
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
}

const call = JSON.stringify({
  ...{ hook_event_name: 'PreToolUse', session_id: 's', cwd: '/', tool_use_id: 'u' },
  ...{ tool_name: 'Bash', tool_input: { command: 'ls' } },
});

const approvals = `  approvals:
    push: {tools: [Bash], when: '\${args.command.contains("git push")}'}
`;

/** The time that an agent waits for a hook before each tool call, with the config of `signalbox init`. */
function agentLines(program: string): Line[] {
  return ['', approvals].map((more): Line => {
    const cwd = join(mkdtempSync(join(tmpdir(), 'bench-agent-')), 'guards');
    execFileSync(process.execPath, [program, 'init', cwd]);
    const config = join(cwd, 'runtime.yaml');
    writeFileSync(config, `${readFileSync(config, 'utf8')}${more}`);
    return {
      id: `start/hook-claude${more === '' ? '' : '-approvals'}`,
      title: `signalbox hook claude, quickstart${more === '' ? '' : ' with an approval'}`,
      unit: 'ms',
      count: 5,
      warmUp: 2,
      short: false,
      ways: [
        command('node -e 0', { command: [process.execPath, '-e', '0'], cwd, stdin: call }),
        command('signalbox', { command: [process.execPath, program, 'hook', 'claude'], cwd, stdin: call }),
      ],
    };
  });
}

/** The file of the `signalbox` command in package.json. */
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
