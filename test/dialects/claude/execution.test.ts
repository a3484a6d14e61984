import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { titled } from '../../cite.ts';
import type { OpenProject } from '../project.ts';
import { command, on, openClaude, settings } from './scripts.ts';

const models = { from_model: 'a' };

async function printed({ runtime }: OpenProject, to_model: string): Promise<readonly string[]> {
  const payload = { ...models, to_model };
  return (await runtime.hooks.fire({ dialect: 'claude', point: 'PostModelSwitch', payload })).context;
}

const started = [
  { title: 'a line is read by sh', cites: 'CC-3-01@oneshot', name: 'sh', text: '/bin/sh: 2' },
  { title: 'or by bash', cites: 'CC-3-01@oneshot', name: 'bash', text: 'bash yes' },
  {
    title: 'arguments reach a program of PATH as they are',
    cites: 'CC-3-02@oneshot',
    name: 'exec',
    text: 'a  b $HOME|*|',
  },
  {
    title: 'a path with spaces is one word',
    cites: 'CC-3-02@oneshot',
    name: 'bare',
    text: 'bare 0',
  },
  {
    title: 'the project’s folder is filled in and set',
    cites: 'CC-3-03@oneshot',
    name: 'place',
    text: 'PROJECT/x PROJECT',
  },
  {
    title: 'so are the plugin’s, whose data folder is there',
    cites: 'CC-3-03@oneshot',
    name: 'plugin',
    text: 'PROJECT/plug PROJECT/plug PROJECT/.signalbox/plugins/plug PROJECT/.signalbox/plugins/plug there',
  },
  {
    title: 'the environment is closed',
    cites: 'CC-3-06@oneshot',
    name: 'env',
    text: 'CLAUDE_PROJECT_DIR GH_TOKEN',
  },
  {
    title: 'an imported handler starts in the project',
    cites: 'CC-3-08@oneshot',
    name: 'cwd',
    text: 'PROJECT',
  },
  {
    title: 'an entry where it says',
    cites: 'CC-3-08@oneshot',
    name: 'entry',
    text: 'PROJECT/sub PROJECT/sub',
  },
];

test('handlers are started as their form requires', async () => {
  const project = await openClaude(
    {
      PostModelSwitch: [
        on('sh', 'echo "$0: $(echo 1 2 | wc -w | tr -d " ")"'),
        on('bash', '[[ abc == a* ]] && echo "${0##*/} yes"', { shell: 'bash' }),
        on('exec', 'printf', { args: ['%s|', 'a  b $HOME', '*'] }),
        on('bare', './.claude/hooks/bare words.sh', { args: [] }),
        on('place', 'echo "${CLAUDE_PROJECT_DIR}/x" "$CLAUDE_PROJECT_DIR"'),
        on('env', 'env | cut -d= -f1 | grep -E "^(CLAUDE|OTEL|GH_|SECRET)" | sort | tr "\\n" " "'),
        on('cwd', 'pwd -P'),
      ],
    },
    {
      more: ', env: [GH_TOKEN]}\n  - {dialect: claude, file: plug',
      spec: [
        'hooks:',
        '  here:',
        '    dialect: claude',
        '    command: echo "$(pwd -P)" $(sed \'s/.*"cwd":"\\([^"]*\\)".*/\\1/\')',
        '    cwd: sub',
        '    claude: {event: PostModelSwitch, matcher: entry}',
      ].join('\n'),
      files: {
        '.claude/hooks/bare words.sh': '#!/bin/sh\necho "bare $#"\n',
        'sub/.keep': '',
        'plug/hooks/hooks.json': settings(
          {
            PostModelSwitch: [
              on(
                'plugin',
                'echo "${CLAUDE_PLUGIN_ROOT} $CLAUDE_PLUGIN_ROOT ${CLAUDE_PLUGIN_DATA} $CLAUDE_PLUGIN_DATA"; test -d "$CLAUDE_PLUGIN_DATA" && printf there',
              ),
            ],
          },
          { description: 'a plugin' },
        ),
      },
      options: {
        env: { PATH: process.env['PATH'], GH_TOKEN: 'g', SECRET: 's', OTEL_X: '1', CLAUDE_EFFORT: 'x' },
      },
    },
  );
  const texts = await Promise.all(started.map(({ name }) => printed(project, name)));
  const said = titled(started).map(({ title }, index) => [
    title,
    texts[index]?.join().trim().replaceAll('\n', ' ').replaceAll(project.folder, 'PROJECT'),
  ]);
  expect(Object.fromEntries(said)).toEqual(
    Object.fromEntries(titled(started).map(({ title, text }) => [title, text])),
  );
});

const fire = async ({ runtime }: OpenProject, tool_name: string, tool_input: object = {}) =>
  await runtime.hooks.fire({
    dialect: 'claude',
    point: 'PreToolUse',
    payload: { tool_name, tool_input },
  });

test('all handlers run concurrently and to their end, each with the whole JSON [CC-3-13@oneshot]', async () => {
  const meet = (own: string, other: string) =>
    `cat > ${own}.json; touch ${own}; for i in $(seq 100); do test -e ${other} && exit 0; sleep 0.05; done; exit 1`;
  const project = await openClaude({
    PreToolUse: [
      on(undefined, 'echo no >&2; exit 2'),
      on(undefined, meet('one', 'two')),
      on(undefined, meet('two', 'one')),
    ],
  });
  const decision = await fire(project, 'Bash', { command: 'ls' });
  expect([decision.verdict, decision.hook, project.verdicts().toSorted()]).toEqual([
    'deny',
    'PreToolUse-1',
    ['PreToolUse-1 PreToolUse deny', 'PreToolUse-2 PreToolUse allow', 'PreToolUse-3 PreToolUse allow'],
  ]);
  const [one, two] = ['one', 'two'].map((name) => readFileSync(join(project.folder, `${name}.json`), 'utf8'));
  expect(JSON.parse(one ?? '')).toMatchObject({
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    cwd: project.folder,
    permission_mode: 'default',
  });
  expect(two).toBe(one);
});

const specific = (members: object) =>
  `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...members } })}'`;

/** Scripts that broke other systems, by the tool whose calls they judge. */
const nasty = {
  PreToolUse: [
    on('Stdin', 'grep -q "rm -rf" < /dev/stdin && { echo "no rm" > /dev/stderr; exit 2; }'),
    on('Stderr', 'echo "not that" > /dev/stderr; exit 2'),
    on('Deaf', specific({ permissionDecision: 'deny', permissionDecisionReason: 'heard nothing' })),
    on('Quiet', 'exec true'),
    on('Child', `(sleep 30 & echo $! > child); ${specific({ additionalContext: 'still here' })}`),
    on('Banner', `echo "Welcome to fish"; ${specific({ permissionDecision: 'deny' })}`),
    on('Gone', 'python3 $GONE/gone.py'),
  ],
};

const nastyRows = [
  {
    title: 'one that opens /dev/stdin finds the JSON there',
    cites: 'CC-3-09@oneshot',
    tool: 'Stdin',
    input: { command: 'rm -rf /' },
    means: ['deny', 'no rm', {}],
    closed: ['deny', 'no rm', {}],
  },
  {
    title: 'one that opens /dev/stderr blocks with what it writes there',
    cites: 'CC-3-10@oneshot CC-6-01@oneshot',
    tool: 'Stderr',
    input: {},
    means: ['deny', 'not that', {}],
    closed: ['deny', 'not that', {}],
  },
  {
    title: 'one that reads nothing of a megabyte is heard',
    cites: 'CC-3-11@oneshot',
    tool: 'Deaf',
    input: { text: 'x'.repeat(1 << 20) },
    means: ['deny', 'heard nothing', {}],
    closed: ['deny', 'heard nothing', {}],
  },
  {
    title: 'its silence is no failure, and never closed',
    cites: 'CC-3-11@oneshot CC-6-04@oneshot CC-9-04',
    tool: 'Quiet',
    input: { text: 'x'.repeat(1 << 20) },
    means: ['allow', '', {}],
    closed: ['allow', '', {}],
  },
  {
    title: 'one that leaves a child on its stdout is answered for at once',
    cites: 'CC-3-12@oneshot',
    tool: 'Child',
    input: {},
    means: ['allow', '', {}],
    closed: ['allow', '', {}],
  },
  {
    title: 'one that prints a banner first has given no JSON',
    cites: 'CC-6-06@oneshot CC-9-01 CC-9-02',
    tool: 'Banner',
    input: {},
    means: ['allow', '', { failed_open: { hook: 'PreToolUse-6', cause: 'claude.text_before_json' } }],
    closed: [
      'deny',
      'hook "PreToolUse-6" printed text before what may be its JSON answer',
      { failed_closed: { hook: 'PreToolUse-6', cause: 'claude.text_before_json' } },
    ],
  },
  {
    title: 'an interpreter without its script blocks, and is named',
    cites: 'CC-9-06',
    tool: 'Gone',
    input: {},
    means: ['deny', expect.stringMatching(/gone\.py.*\(a file cannot be opened\)$/), {}],
    closed: ['deny', expect.stringMatching(/gone\.py.*\(a file cannot be opened\)$/), {}],
  },
];

test.each([
  { title: 'nasty scripts mean what the reference says', more: '', key: 'means' },
  { title: 'and with on_failure: deny no more than that passes', more: ', on_failure: deny', key: 'closed' },
] as const)('$title', async ({ more, key }) => {
  const project = await openClaude(nasty, { more });
  const startedAt = performance.now();
  const said = await Promise.all(
    titled(nastyRows).map(async ({ title, tool, input }) => {
      const { verdict, reason, metadata } = await fire(project, tool, input);
      return [title, [verdict, reason, metadata]];
    }),
  );
  const tookMs = performance.now() - startedAt;
  const child = Number(readFileSync(join(project.folder, 'child'), 'utf8'));
  onTestFinished(() => void process.kill(child, 'SIGKILL'));
  expect(Object.fromEntries(said)).toEqual(
    Object.fromEntries(titled(nastyRows).map((row) => [row.title, row[key]])),
  );
  // The grandchild survives, and the runtime does not wait for it.
  expect([process.kill(child, 0), tookMs < 10_000]).toEqual([true, true]);
  expect(
    project.warnings().filter((each) => each.includes('an interpreter whose script is missing')),
  ).toHaveLength(1);
});

test('a script that disappears after the start passes with one interpreter, and blocks with another [CC-6-11]', async () => {
  const project = await openClaude(
    { PreToolUse: [on('Sh', 'bash ./guard.sh'), on('Py', 'python3 ./guard.py')] },
    { files: { 'guard.sh': 'exit 2', 'guard.py': 'import sys; sys.exit(2)' } },
  );
  for (const name of ['guard.sh', 'guard.py']) rmSync(join(project.folder, name));
  const decisions = [await fire(project, 'Sh'), await fire(project, 'Py')];
  expect(decisions.map(({ verdict, metadata }) => [verdict, metadata])).toEqual([
    ['allow', { failed_open: { hook: 'PreToolUse-1', cause: 'claude.exit_other' } }],
    ['deny', {}],
  ]);
});

test('a text of more than 10,000 characters goes to a file, which is removed with the runtime [CC-6-16]', async () => {
  const long = (text: string) => `python3 -c 'print("${text}" * 6000)'`;
  const project = await openClaude(
    {
      PostModelSwitch: [
        on('plain', long('ab')),
        on('json', 'cat "$CLAUDE_PROJECT_DIR"/long.json'),
        on('short', `python3 -c 'print("a" * 10000)'`),
      ],
    },
    {
      files: {
        'long.json': JSON.stringify({
          systemMessage: 'm'.repeat(10_001),
          hookSpecificOutput: { hookEventName: 'PostModelSwitch', additionalContext: 'c'.repeat(10_001) },
        }),
      },
    },
  );
  const fired = async (to_model: string) =>
    await project.runtime.hooks.fire({
      dialect: 'claude',
      point: 'PostModelSwitch',
      payload: { ...models, to_model },
    });
  const [plain, json, short] = [await fired('plain'), await fired('json'), await fired('short')];
  const texts = [plain.context[0], json.context[0], json.metadata['system_message']];
  const files = texts.map((text) => /the whole text is in (.*)\]$/.exec(String(text))?.[1] ?? '');
  expect(texts.map((text) => String(text).slice(0, 3))).toEqual(['aba', 'ccc', 'mmm']);
  expect(files.map((file) => readFileSync(file, 'utf8').length)).toEqual([12_000, 10_001, 10_001]);
  expect(short.context).toEqual(['a'.repeat(10_000)]);
  await project.runtime.close();
  expect(files.map((file) => existsSync(file))).toEqual([false, false, false]);
});

test('two handlers of one group are two hooks [CC-3-14]', async () => {
  const project = await openClaude({
    PostModelSwitch: [{ matcher: '*', hooks: [command('sleep 0.1; echo one'), command('echo two')] }],
  });
  expect(await printed(project, 'x')).toEqual(['one', 'two']);
});
