import { describe, expect, test } from 'vitest';
import { configText, native, told } from './told.ts';

/** Other sections of a config, and whether they allow undeclared tools. */
const surroundings = [
  { title: 'declared tools alone', spec: '', isOpen: false },
  { title: 'a gateway whose tool hooks hold for no tool of a client', spec: 'gateway: {}', isOpen: false },
  { title: 'a gateway without hooks of tools', spec: 'gateway: {tools: {pending: refuse}}', isOpen: false },
  { title: 'a gateway', spec: 'gateway: {tools: {hooks: true}}', isOpen: true },
  { title: 'approvals of an agent', spec: 'approvals: {push: {tools: [Bash]}}', isOpen: true },
  { title: 'hooks of another system', spec: 'imports: []', isOpen: true },
];

const names = [
  { pattern: 'pay', reach: 'declared' },
  { pattern: 'Payment', reach: 'declared' },
  { pattern: 'p*', reach: 'declared' },
  { pattern: 'pey', reach: 'undeclared' },
  { pattern: 'Bash', reach: 'undeclared' },
  { pattern: 'constructor', reach: 'undeclared' },
  { pattern: 'x*', reach: 'unmatched' },
];

const cases = surroundings.flatMap((around) =>
  names.flatMap((name) =>
    [true, false].map((external) => ({
      ...around,
      ...name,
      external,
      title: `${around.title}, ${name.pattern}`,
    })),
  ),
);

describe.each([{ tools: true }, { tools: false }])('tools declared: $tools', ({ tools }) => {
  test.each(cases)('$title, external: $external', ({ spec, isOpen, pattern, reach, external }) => {
    const declared = tools
      ? 'tools: {pay: {description: d, input_schema: {type: object}, aliases: [Payment], exec: {command: cat}}}'
      : '';
    const hook = `{command: cat, hook: tool, match: {tools: ["${pattern}"]}, external: ${external}}`;
    const { problems, config } = told(
      configText(native, `\n${declared}\n${spec}\nhooks: {guard: ${hook}}\n`),
    );
    const isReached = tools && reach === 'declared';
    const isClosed = tools && !isOpen;
    const isPattern = pattern.includes('*');
    const isFine = isReached || external || (isPattern && !isClosed);
    const severity = isFine ? undefined : isClosed && !isPattern ? 'error' : 'warning';
    const found = problems.filter(
      (problem) => problem.includes('hooks[guard]') && !problem.startsWith('note'),
    );
    expect(found.map((problem) => problem.split(' ')[0])).toEqual(severity === undefined ? [] : [severity]);
    const own = isReached ? undefined : external || isOpen || !tools ? 'external' : 'none';
    if (severity !== 'error') expect(config?.hooks[0]?.reach).toBe(own);
  });
});
