import { expect, test } from 'vitest';
import { configText, native, promptkit, told } from './told.ts';

const approvals = (lines: string, version = native) => configText(version, `\napprovals:\n${lines}`);

test('approvals by pattern are read in the order of the file, with how long agents wait', () => {
  const { config, problems } = told(
    configText(
      native,
      '\napprovals:\n  push: {tools: [Bash, "mcp__*"], when: "${args.n > 1}", by: [mara, joe], quorum: 2, expires: 1h}\n  all: {tools: ["*"]}\nagents: {pending: hold}',
    ),
  );
  expect(problems).toEqual([]);
  expect(config).toMatchObject({
    approvals: [
      {
        ...{ name: 'push', tools: ['Bash', 'mcp__*'], when: '${args.n > 1}' },
        ...{ by: ['mara', 'joe'], quorum: 2, expiresMs: 3_600_000 },
      },
      { name: 'all', tools: ['*'] },
    ],
    agents: { pending: 'hold', holdMs: 120_000 },
  });
});

test.each([
  ['a rule for no tools', '  a: {when: "${true}"}', /^error 5:\d+ .*tools/],
  ['a rule that is nothing', '  a:', /^error 5:\d+ /],
  ['a key that is none', '  a: {tools: [x], whn: y}', /^error 5:\d+ .*whn.*when/],
  ['an expression over something else', '  a: {tools: [x], when: "${input.n > 1}"}', /^error 5:\d+ .*args/],
  ['a time that is none', '  a: {tools: [x], expires: soon}', /^error 5:\d+ .*a duration such as/],
  ['a quorum that nobody can reach', '  a: {tools: [x], by: [ann], quorum: 2}', /^error 5:\d+ .*quorum/],
  [
    'two rules without a common decider',
    '  a: {tools: ["B*"], by: [ann]}\n  b: {tools: ["*h"], by: [joe]}',
    /^error 6:\d+ .*nobody in common with "a"/,
  ],
])('%s is an error at its place, in both versions', (_, lines, expected) => {
  for (const version of [native, promptkit])
    expect(told(approvals(lines, version)).problems.filter((line) => line.startsWith('error'))).toEqual([
      expect.stringMatching(expected),
    ]);
});

test('a tool’s rule and one by pattern need a common decider', () => {
  const tool = '\ntools: {pay: {description: d, approval: {by: [ann]}}}';
  expect(
    told(`${approvals('  a: {tools: [p*], by: [joe]}').trimEnd()}${tool.replaceAll('\n', '\n  ')}\n`)
      .problems,
  ).toContainEqual(expect.stringMatching(/^error 5:\d+ .*"pay"/));
});

test('keys that decide about calls take no variable', () => {
  expect(told(approvals('  a: {tools: ["${env:TOOL}"]}')).problems).toEqual([
    expect.stringMatching(/^error 5:\d+ .*variables are not replaced/),
  ]);
});
