import { expect, test } from 'vitest';
import { claudeConditionEvents, claudeEvents } from '../../../src/dialects/claude/config/settings.ts';
import { claude } from '../../../src/dialects/claude/dialect.ts';
import { findConditionFault, findMatcherFault } from '../../../src/dialects/claude/matcher.ts';
import { titled } from '../../cite.ts';
import { rowsOf } from '../../table.ts';
import { given, questionAt, seatAt } from './handler.ts';

interface Matched {
  readonly title: string;
  readonly cites: string;
  readonly event?: string;
  readonly matcher: string;
  readonly key?: string;
  readonly runs: readonly string[];
  readonly rests: readonly string[];
}

const matchers: readonly Matched[] = rowsOf<Matched>`
  title | cites | matcher | runs | rests | event | key
  an empty matcher | CC-2-01 | ${''} | ${['Bash', 'x']} | ${[]}
  a star | CC-2-01 | * | ${['Bash', 'x']} | ${[]}
  a name | CC-2-02 CC-1-01 | Edit | ${['Edit']} | ${['edit', 'NotebookEdit']}
  a list | CC-2-02 | ${'Edit | Write,my-tool'} | ${['Edit', 'Write', 'my-tool']} | ${['EditWrite', 'tool', '']}
  a server alone | CC-2-06 | mcp__srv | ${[]} | ${['mcp__srv__go']}
  all of a server | CC-2-06 | mcp__srv__.* | ${['mcp__srv__go']} | ${['go']}
  an expression | CC-2-04 | Edit.* | ${['NotebookEdit', 'Edits']} | ${['Bash']}
  an anchored expression | CC-2-04 | ^Edit$ | ${['Edit']} | ${['NotebookEdit']}
  a file name | CC-2-03 | ${'Makefile|package_json'} | ${['/a/Makefile']} | ${['/Makefile/a']} | FileChanged | file_path
  a file name with a dot | CC-2-03 | ${'.envrc|.env'} | ${['/a/.env', '/a/.env.local']} | ${['/.env/a']} | FileChanged | file_path
  a comma where it makes no list | CC-2-03 | rate_limit,overloaded | ${[]} | ${['rate_limit', 'overloaded']} | StopFailure | error
`;

test.each(titled(matchers))('$title', ({ event = 'PreToolUse', key = 'tool_name', matcher, runs, rests }) => {
  const isHeard = (value: string) =>
    claude.selects(seatAt(event, { matcher }), questionAt(event, { [key]: value }));
  expect([runs.filter((value) => !isHeard(value)), rests.filter(isHeard)]).toEqual([[], []]);
});

test('a handler receives only its own event [CC-1-01 CC-2-05]', () => {
  const heard = claudeEvents.map((event) =>
    claudeEvents.filter((point) => claude.selects(seatAt(event), questionAt(point))),
  );
  expect(heard).toEqual(claudeEvents.map((event) => [event]));
});

test('a matcher is ignored at events without one [CC-2-05]', () => {
  expect(claude.selects(seatAt('Stop', { matcher: 'nothing' }), questionAt('Stop'))).toBe(true);
});

test('a matcher that does not compile is a fault where it is evaluated [CC-2-07]', () => {
  expect(
    ['PreToolUse', 'Stop'].flatMap((event) =>
      ['Edit(', 'Edit|Write', '*', '', '.*'].map((matcher) => findMatcherFault(event, matcher)),
    ),
  ).toEqual(['the matcher "Edit(" is not a regular expression', ...Array(9).fill(undefined)]);
});

test('`if` runs at five events only [CC-2-08]', () => {
  const ran = claudeEvents.filter((point) =>
    claude.selects(seatAt(point, { condition: 'Bash' }), questionAt(point, given[point])),
  );
  expect(new Set(ran)).toEqual(claudeConditionEvents);
});

interface Ruled {
  readonly rule: string;
  readonly cites: string;
  readonly runs: readonly string[];
  readonly rests: readonly string[];
}

const commands: readonly Ruled[] = [
  { rule: 'Bash', cites: 'CC-2-08', runs: ['ls', ''], rests: [] },
  { rule: 'Bash(*)', cites: 'CC-2-08', runs: ['ls'], rests: [] },
  {
    rule: 'Bash(git *)',
    cites: 'CC-2-09 CC-2-10',
    runs: [
      'FOO=bar git push',
      'A=1 B+=2 git x',
      'npm test && git push',
      'git',
      'a;git x',
      'a\ngit x',
      'a|git x',
    ],
    rests: ['gitk', 'npm test', 'echo git x', "echo 'a && git x'", 'echo "a; git x"', 'echo a\\;git x'],
  },
  {
    rule: 'Bash(rm *)',
    cites: 'CC-2-10 CC-2-11',
    runs: [
      ...[
        'echo $(rm -rf /)',
        'echo `rm x`',
        'echo "`rm x`"',
        'echo "a $(rm x)"',
        'A=$(rm x)',
        '(rm x)',
        '{ rm x; }',
        'a & rm x',
      ],
      ...[
        'if a; then rm x; fi',
        '! rm x',
        'diff <(rm x) b',
        '"r"m x',
        'r\\m x',
        'r\\\nm x',
        "'rm' x",
        'a || rm x',
      ],
      ...[
        '$(echo $(rm x))',
        '$(ls `rm x`)',
        'f() { rm x; }',
        'rm>f x',
        'rm 2>/dev/null x',
        'a |& rm x',
        'a &>f; rm x',
      ],
    ],
    rests: [
      'echo $(date)',
      'echo "$HOME"',
      'rmdir x',
      'echo rm x',
      "echo '$(rm x)'",
      'echo "\\$(rm x)"',
      'x >&2',
    ],
  },
  {
    rule: 'Bash(rm *)',
    cites: 'CC-2-17',
    runs: [
      ...[
        '$X -rf /',
        'cat <<E\nrm\nE',
        "echo 'a",
        'echo "a',
        'echo $(a',
        'echo `a',
        'a # it’s',
        'a \\',
        'a )',
      ],
      ...[
        "echo $'a'",
        'echo ${A:-b}',
        'for a in b; do c; done',
        'case a in b) c;; esac',
        '>f rm x',
        '{rm,x}',
        'r? x',
      ],
      ...['$('.repeat(30), 'a $[1]', "# don't\nrm x # don't", 'cat <<< a'],
    ],
    rests: [],
  },
  {
    rule: 'Bash(git push *)',
    cites: 'CC-2-12',
    runs: ['echo $(date)', '$X', 'echo `date`', 'echo "$X"', 'echo ${X}', 'git push x', 'git >l push x'],
    rests: ['git pull', "echo '$X'", 'echo a'],
  },
  {
    rule: 'Bash(git commit:*)',
    cites: 'CC-2-14',
    runs: ['git commit -m x', 'git commit'],
    rests: ['git commits'],
  },
  { rule: 'Bash(npm test)', cites: 'CC-2-10', runs: ['npm test', 'npm  test 2>&1'], rests: ['npm test -x'] },
  { rule: 'Read', cites: 'CC-2-08', runs: [], rests: ['ls'] },
];

test.each(titled(commands.map((row) => ({ ...row, title: `${row.rule} on a command` }))))(
  '$title',
  ({ rule, runs, rests }) => {
    const isHeard = (command: string) =>
      claude.selects(
        seatAt('PreToolUse', { condition: rule }),
        questionAt('PreToolUse', { tool_input: { command } }),
      );
    expect([runs.filter((command) => !isHeard(command)), rests.filter(isHeard)]).toEqual([[], []]);
  },
);

const paths: readonly Ruled[] = [
  {
    rule: 'Edit(src/**)',
    cites: 'CC-2-15',
    runs: ['/project/src/a/b.ts', 'src/a', './src/a', '/project/lib/../src/a'],
    rests: ['/project/lib/src/a', '/src/a', '/project/srcs/a', '/project/src/../a'],
  },
  {
    rule: 'Edit(**/src/**)',
    cites: 'CC-2-15',
    runs: ['/project/lib/src/a', '/x/src/a'],
    rests: ['/project/lib/a'],
  },
  { rule: 'Edit(*.ts)', cites: 'CC-2-15', runs: ['/project/a/b.ts'], rests: ['/project/a/b.js'] },
  { rule: 'Edit(//etc/**)', cites: 'CC-2-15', runs: ['/etc/passwd'], rests: ['/project/etc/passwd'] },
  { rule: 'Edit(/docs)', cites: 'CC-2-15', runs: ['/project/docs/a', '/docs/a'], rests: ['/project/a/docs'] },
  { rule: 'Edit([ab]*)', cites: 'CC-2-17', runs: ['/project/c'], rests: [] },
];

test.each(titled(paths.map((row) => ({ ...row, title: `${row.rule} on a path` }))))(
  '$title',
  ({ rule, runs, rests }) => {
    const isHeard = (file_path: string) =>
      claude.selects(
        seatAt('PreToolUse', { condition: rule }),
        questionAt('PreToolUse', { tool_name: 'Edit', tool_input: { file_path } }),
      );
    expect([runs.filter((path) => !isHeard(path)), rests.filter(isHeard)]).toEqual([[], []]);
  },
);

test('an `if` that cannot be evaluated runs the handler [CC-2-17]', () => {
  const tries = [
    ['Bash(rm *)', 'Bash', {}],
    ['Bash(rm *)', 'Bash', { command: 5 }],
    ['Edit(src/**)', 'Edit', {}],
    ['mcp__srv__go(x)', 'mcp__srv__go', {}],
    ['WebFetch(domain:*.com)', 'WebFetch', { url: 'no url' }],
    ['WebFetch(domain:a.com)', 'WebFetch', { url: 'https://a.com/x' }],
  ] as const;
  const ran = tries.filter(([condition, tool_name, tool_input]) =>
    claude.selects(seatAt('PreToolUse', { condition }), questionAt('PreToolUse', { tool_name, tool_input })),
  );
  expect(ran).toEqual(tries);
});

test('an `if` takes exactly one permission rule [CC-2-16]', () => {
  const good = ['Bash', 'Bash(git *)', ' Edit(src/**) ', 'mcp__a__b', 'Bash(echo (a))', 'Bash()'];
  const bad = [
    '',
    'Bash(',
    'Bash(a) && Bash(b)',
    'Bash, Edit',
    'Bash(a), Edit(b)',
    'Bash(a)x',
    '(a)',
    'Bash | Edit',
  ];
  const faults = [...good, ...bad].filter((rule) => findConditionFault(rule) !== undefined);
  expect(faults).toEqual(bad);
});

test('hostile commands are read in one pass [CC-2-17]', () => {
  const hostile = [
    '$('.repeat(100_000),
    '"'.repeat(200_001),
    '`a'.repeat(100_001),
    'a '.repeat(100_000),
    '\\'.repeat(99_999),
  ];
  const ran = hostile.map((command) =>
    claude.selects(
      seatAt('PreToolUse', { condition: 'Bash(r*m * * *x)' }),
      questionAt('PreToolUse', { tool_input: { command } }),
    ),
  );
  expect(ran).toEqual([true, true, true, false, true]);
});
