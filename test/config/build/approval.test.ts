import { describe, expect, test } from 'vitest';
import { configText, native, promptkit, told } from '../told.ts';

function read(keys: string, apiVersion: string) {
  const { config, problems } = told(
    configText(apiVersion, `\ntools:\n  refund: {exec: {command: sh}, ${keys}}`),
  );
  const { approval, idempotent } = config?.tools[0] ?? {};
  return { loads: config !== undefined, approval, idempotent, problems };
}

const versions = [native, promptkit];

describe.each(versions)('in %s', (apiVersion) => {
  test.each([
    { title: 'required', keys: 'approval: required', approval: {} },
    { title: 'no mapping at all', keys: 'description: x', approval: undefined },
    { title: 'an empty mapping, which is required', keys: 'approval: {}', approval: {} },
    {
      title: 'a condition, a message and an end',
      keys: `approval: {when: '\${args.amount > 100}', message: 'Refund \${args.order}?', expires: 24h}`,
      approval: { when: '${args.amount > 100}', message: 'Refund ${args.order}?', expiresMs: 86_400_000 },
    },
    {
      title: 'days',
      keys: 'approval: {expires: 7d12h}',
      approval: { expiresMs: 648_000_000 },
    },
  ])('an approval is read: $title', ({ keys, approval }) => {
    expect(read(keys, apiVersion)).toEqual({ loads: true, approval, idempotent: undefined, problems: [] });
  });

  test.each([
    { keys: 'idempotent: true', idempotent: true },
    { keys: 'idempotent: false', idempotent: false },
  ])('$keys is read', ({ keys, idempotent }) => {
    expect(read(keys, apiVersion)).toEqual({ loads: true, approval: undefined, idempotent, problems: [] });
  });

  // Ignoring any of these would call the tool without the required consent.
  test.each([
    {
      title: 'another word',
      keys: 'approval: always',
      problem:
        'error 5:45 tools[refund].approval: must be required, or a mapping of when, message and expires (got: always)',
    },
    {
      title: 'true',
      keys: 'approval: true',
      problem:
        'error 5:45 tools[refund].approval: must be a string or a mapping, not true | Write `approval: required`.',
    },
    {
      title: 'nothing',
      keys: 'approval: ',
      problem: 'error 5:35 tools[refund].approval: must be a string or a mapping, not nothing',
    },
    {
      title: 'an unknown key',
      keys: 'approval: {whne: x}',
      problem: 'error 5:46 tools[refund].approval.whne: unknown key | did you mean `when`?',
    },
    {
      title: 'a condition without `${…}`',
      keys: 'approval: {when: args.amount > 100}',
      problem:
        'error 5:52 tools[refund].approval.when: must be a single `${…}` that gives true or false | Write `${args.amount > 100}`.',
    },
    {
      title: 'a condition with text around it',
      keys: `approval: {when: 'x \${args.a}'}`,
      problem:
        'error 5:52 tools[refund].approval.when: must be a single `${…}` that gives true or false | Write a single expression, such as `${args.amount > 100}`.',
    },
    {
      title: 'a condition that is a number',
      keys: `approval: {when: '\${1 + 2}'}`,
      problem:
        'error 5:52 tools[refund].approval.when: must give true or false, but `${1 + 2}` gives a value of type int | Write a single expression, such as `${args.amount > 100}`.',
    },
    {
      title: 'a condition that is no CEL',
      keys: `approval: {when: '\${args.amount >}'}`,
      problem:
        'error 5:52 tools[refund].approval.when: `${args.amount >}` is not a valid expression: it ends where a value is expected | Write a value after `>`, or end the expression before it. Expressions are written in CEL.',
    },
    {
      title: 'a condition over something else',
      keys: `approval: {when: '\${input.amount > 1}'}`,
      problem:
        'error 5:52 tools[refund].approval.when: `${input.amount > 1}` is not a valid expression: Unknown variable: input | The expression sees the arguments as `args`.',
    },
    {
      title: 'a message that is no CEL',
      keys: `approval: {message: 'Refund \${args.'}`,
      problem:
        'error 5:55 tools[refund].approval.message: `${args.` has no closing brace: write `}` at the end of the expression',
    },
    {
      title: 'an end that is no duration',
      keys: 'approval: {expires: tomorrow}',
      problem:
        'error 5:55 tools[refund].approval.expires: must be a duration such as 90s, 1m30s or 24h (got: tomorrow)',
    },
    {
      title: 'an end without a unit',
      keys: 'approval: {expires: 60000}',
      problem:
        'error 5:55 tools[refund].approval.expires: must be a string, not the number 60000 | Name the unit: 60000s, 60000m or 60000h.',
    },
    {
      title: 'idempotent that is neither true nor false',
      keys: 'idempotent: maybe',
      problem: 'error 5:47 tools[refund].idempotent: must be true or false, not the string "maybe"',
    },
    {
      title: 'idempotent that is nothing',
      keys: 'idempotent: ',
      problem: 'error 5:35 tools[refund].idempotent: must be true or false, not nothing',
    },
  ])('an approval is refused: $title', ({ keys, problem }) => {
    const { loads, problems } = read(keys, apiVersion);
    expect({ loads, problems }).toEqual({ loads: false, problems: [problem] });
  });
});
