import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newProject, runtimeYaml } from '../../dialects/project.ts';
import type { Group } from '../group.ts';
import { type Ended, errorCodeIn, inShell, judge, notBuilt, runProgram } from './program.ts';

const hour = 3_600_000;

/** Changes to the wall clock during a run. The monotonic clock is unaffected. */
const clocks = [
  { title: 'an hour ahead', shift: `at > 300 ? ${hour} : 0` },
  { title: 'an hour back', shift: `at > 300 ? ${-hour} : 0` },
  { title: 'a year ahead', shift: `at > 300 ? ${365 * 24 * hour} : 0` },
  { title: 'a year back', shift: `at > 300 ? ${-365 * 24 * hour} : 0` },
  { title: 'to and fro', shift: `Math.floor(at / 50) % 2 ? ${hour} : ${-hour}` },
  { title: 'backwards, ever further', shift: '-1000 * calls' },
] as const;

/** Preloaded to change the clock while the program runs. */
const wrongClock = (shift: string) => `
const Real = Date;
let calls = 0;
const now = () => { const at = performance.now(); calls += 1; return Real.now() + (${shift}); };
globalThis.Date = class extends Real {
  constructor(...given) { if (given.length === 0) super(now()); else super(...given); }
  static now() { return now(); }
};
`;

const slow = (reply: string) => `#!/bin/sh\ncat > /dev/null\nsleep 0.7\necho '${reply}'\n`;

function newDesk(): string {
  return newProject({
    'runtime.yaml': runtimeYaml(
      [
        'tools:',
        '  slow: {exec: {command: ./slow, timeout_ms: 60000}}',
        '  stuck: {exec: {command: ./stuck, timeout_ms: 1000, grace_ms: 100}}',
        '  ask: {exec: {command: ./ask}}',
        '  loud: {exec: {command: ./loud}}',
        'hooks:',
        '  open: {command: ./allow, hook: provider}',
        '  shut: {command: ./stuck, hook: tool, phases: [after_execution], timeout_ms: 1000, grace_ms: 100}',
      ].join('\n'),
    ),
    'plain.yaml': runtimeYaml(
      'tools: {slow: {exec: {command: ./slow}}, stuck: {exec: {command: ./stuck, timeout_ms: 1000, grace_ms: 100}}, ask: {exec: {command: ./ask}}, loud: {exec: {command: ./loud}}}',
    ),
    'p.pipeline.yaml':
      'apiVersion: signalbox/v1\nkind: Pipeline\nmetadata: {name: p}\nspec:\n  runtime: ./plain.yaml\n  steps: [{id: a, tool: slow, args: {}}, {id: b, tool: slow, args: {}}]\n  output: {a: "${steps.a.result}"}\n',
    slow: slow('{"result": 1}'),
    allow: slow('{"allow": true}'),
    ask: slow('{"pending": {}}'),
    stuck: '#!/bin/sh\nexec sleep 600\n',
    loud: '#!/bin/sh\nyes 0123456789012345678901234567890123456789012345678901234567890123456789 | head -n 20000 >&2\necho \'{"result": 1}\'\n',
  });
}

interface Work {
  readonly title: string;
  readonly args: readonly string[];
  readonly code: number;
  readonly error?: string;
  readonly prefix?: readonly string[];
}

const call = (tool: string) => ['tool', 'call', tool, '-c', 'plain.yaml', '--json'];
const fire = (hook: string, phase: string, event: string) => [
  'hook',
  'fire',
  '--hook',
  hook,
  '--phase',
  phase,
  '--event',
  event,
  '--json',
];

const works: readonly Work[] = [
  { title: 'a call within its limit', args: call('slow'), code: 0 },
  { title: 'a call beyond its limit', args: call('stuck'), code: 1, error: 'PROCESS_TIMEOUT' },
  { title: 'a call that waits for a person', args: call('ask'), code: 3 },
  {
    title: 'a hook within its limit',
    args: fire('provider', 'before_call', '{"request":{"messages":[]}}'),
    code: 0,
  },
  {
    title: 'a hook beyond its limit',
    args: fire('tool', 'after_execution', '{"request":{"name":"x","args":{}},"response":{"content":"1"}}'),
    code: 1,
    error: 'PROCESS_TIMEOUT',
  },
  { title: 'a pipeline', args: ['run', 'p.pipeline.yaml', '--json'], code: 0 },
  // Nothing reads its log, so closing waits for a limited time.
  {
    title: 'a log that nobody reads',
    args: [...call('loud'), '--log-level', 'trace'],
    code: 0,
    prefix: inShell('mkfifo unread; exec 9<>unread 2>unread;'),
  },
];

export const clockFaults: Group = {
  name: 'clocks that are set',
  every: 20,
  missing: notBuilt,
  async *run(isChosen) {
    let at = 0;
    for (const { title, shift } of clocks)
      for (const work of works) {
        if (!isChosen(at++)) continue;
        const cwd = newDesk();
        writeFileSync(join(cwd, 'clock.mjs'), wrongClock(shift));
        const env = { NODE_OPTIONS: `--import=${join(cwd, 'clock.mjs')}` };
        const ended = await runProgram(work.args, { cwd, env, ...(work.prefix && { prefix: work.prefix }) });
        yield judge(`clock: ${title}`, work.title, ended, (it) => problemOf(it, work));
      }
  },
};

function problemOf({ code, stdout }: Ended, { code: expected, error }: Work): string | undefined {
  if (code !== expected) return `it should end with ${expected}`;
  const told = errorCodeIn(stdout) ?? (stdout.includes('PROCESS_TIMEOUT') ? 'PROCESS_TIMEOUT' : undefined);
  return error === told ? undefined : `it should tell of ${error ?? 'no error'}`;
}
