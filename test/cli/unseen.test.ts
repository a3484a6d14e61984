import { describe, expect, test } from 'vitest';
import { callOnTerminal, fixture, run, workspace } from './command-line.ts';

const esc = '\u001b';
const evil = `${esc}]0;owned\u0007${esc}[2J\u009b31mred`;
const says = (reply: object) =>
  `{command: ${fixture('prints.sh')}, args: [${JSON.stringify(JSON.stringify(reply))}]}`;
const schema = 'input_schema: {type: object}';
const spec = `tools:
  good: {description: ${JSON.stringify(`tells ${evil}`)}, ${schema}, exec: ${says({ result: evil })}}
  tree: {description: tells, ${schema}, exec: ${says({ result: { text: '\u009b31m' } })}}
  bad: {description: tells, ${schema}, exec: ${says({ error: evil })}}
evals:
  scored: ${says({ score: 0.5, detail: evil })}
  unscored: ${says({ error: evil })}
hooks:
  denies: ${says({ allow: false, reason: evil }).replace('{', '{hook: tool, ')}
`;

/** What a terminal would obey, but for the end of a line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

const quiet = spec.slice(0, spec.indexOf('hooks:'));
const commands = [
  { title: 'tool list', args: ['tool', 'list'] },
  { title: 'a failed tool call', args: ['tool', 'call', 'bad'] },
  { title: 'an eval call', args: ['eval', 'call', 'scored', '--content', 'x'] },
  { title: 'an eval call without a score', args: ['eval', 'call', 'unscored', '--content', 'x'] },
];

test.each(commands)('$title spells out what a terminal would obey', async ({ args }) => {
  const { stdout, stderr } = await run(args, { cwd: workspace(quiet) });
  expect(stdout + stderr).not.toMatch(obeyed);
  expect(stdout + stderr).toContain(String.raw`\u001b]0;owned\u0007`);
});

test.each([
  { title: 'a denied tool call', args: ['tool', 'call', 'good'] },
  {
    title: 'a hook that is fired',
    args: [
      'hook',
      'fire',
      '--hook',
      'tool',
      '--phase',
      'before_execution',
      '--event',
      '{"request":{"name":"good","args":{}}}',
    ],
  },
])('$title spells out the words of the hook', async ({ args }) => {
  const { stdout, stderr } = await run(['--log-level', 'silent', ...args], { cwd: workspace(spec) });
  expect(stdout + stderr).not.toMatch(obeyed);
  expect(stdout + stderr).toContain(String.raw`\u001b]0;owned\u0007`);
});

test('a result stays what it is in a pipe', async () => {
  const { stdout } = await run(['tool', 'call', 'good'], { cwd: workspace(quiet) });
  expect(stdout).toBe(`${evil}\n`);
});

describe('on a terminal', () => {
  test.each([
    { title: 'a result that is a text', args: ['tool', 'call', 'good'], shown: String.raw`\u001b]0;owned` },
    { title: 'a result that is JSON', args: ['tool', 'call', 'tree'], shown: String.raw`\u009b31m` },
    { title: 'a document', args: ['tool', 'call', 'tree', '--json'], shown: String.raw`\u009b31m` },
  ])('$title is spelled out', async ({ args, shown }) => {
    const typing = await callOnTerminal(args, { cwd: workspace(quiet) });
    await typing.ran;
    expect(typing.screen()).toContain(shown);
    expect(typing.screen().replaceAll('\r', '')).not.toMatch(obeyed);
  });
});
