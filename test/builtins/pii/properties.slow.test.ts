import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isObject } from '../../../src/base/json/json.ts';
import { actions } from '../../../src/builtins/pii/action.ts';
import { entityNames } from '../../../src/builtins/pii/entity.ts';
import type { FilterReply } from '../../../src/builtins/pii/filter.ts';
import { answering, asking, detector, executed, executing, filter, user } from './support.ts';

function luhnDigit(digits: string): string {
  const sum = [...digits].toReversed().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return String((10 - (sum % 10)) % 10);
}

const digits = (length: number) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length })
    .map((list) => list.join(''));

const letters = (length: number, alphabet: string) =>
  fc
    .array(fc.constantFrom(...alphabet), { minLength: length, maxLength: length })
    .map((list) => list.join(''));

const alphanumeric = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const cards = fc.tuple(fc.constantFrom('4', '51', '34', '6011'), digits(15)).map(([prefix, rest]) => {
  const body = (prefix + rest).slice(0, prefix === '34' ? 14 : 15);
  return body + luhnDigit(body);
});
const groupedCards = cards
  .filter((card) => card.length === 16)
  .chain((card) =>
    fc.constantFrom(' ', '-', '\u00a0').map((joint) => card.match(/\d{4}/g)?.join(joint) ?? card),
  );
const ibans = fc.tuple(letters(4, 'ABCDEFGH'), digits(14)).map(([bank, account]) => {
  const body = `${bank}${account}GB00`.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return `GB${String(98n - (BigInt(body) % 97n)).padStart(2, '0')}${bank}${account}`;
});
const ssns = fc
  .tuple(fc.integer({ min: 1, max: 665 }), fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 9998 }))
  .map(([area, group, serial]) => {
    const pad = (value: number, length: number) => String(value).padStart(length, '0');
    return `${pad(area, 3)}-${pad(group, 2)}-${pad(serial, 4)}`;
  })
  .filter((ssn) => !['078-05-1120', '219-09-9999', '123-45-6789'].includes(ssn));
const mails = fc
  .tuple(
    letters(8, 'abcdefgh1'),
    letters(6, 'abcdefghijk'),
    fc.constantFrom('com', 'org', 'co.uk', 'de', 'io'),
  )
  .map(([name, host, top]) => `${name}@${host}.${top}`);
/** Addresses of other machines, too long to be a version number. */
const addresses = fc
  .tuple(fc.integer({ min: 128, max: 223 }), fc.nat(254), fc.nat(254), fc.integer({ min: 100, max: 253 }))
  .map((octets) => octets.join('.'));
const keys = fc.oneof(
  letters(36, alphanumeric).map((rest) => `ghp_${rest}`),
  letters(24, alphanumeric).map((rest) => `sk-ant-${rest}`),
  letters(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567').map((rest) => `AKIA${rest}`),
);
const secrets = fc.oneof(cards, groupedCards, ibans, ssns, mails, addresses, keys);

/** Any text that does not make the value a part of a longer number or word. */
const surroundings = fc.tuple(
  fc.oneof(fc.string({ unit: 'grapheme' }), fc.lorem({ maxCount: 12 }), fc.webUrl(), fc.json()),
  fc.constantFrom(' ', '\n', ', ', ' "', ' (', ': ', '\t', '; ', '！ '),
  fc.constantFrom(' ', '\n', ', ', '" ', ') ', '. ', '\t', '; ', '！'),
  fc.oneof(fc.string({ unit: 'grapheme' }), fc.lorem({ maxCount: 12 }), fc.json()),
);

test('no secret survives redact, whatever surrounds it', () => {
  const subject = filter('redact', { entities: entityNames });
  const property = fc.property(secrets, surroundings, (secret, [before, left, right, after]) => {
    const content = `${before}${left}${secret}${right}${after}`;
    fc.pre(!before.includes(secret) && !after.includes(secret));
    const reply = subject.answer(asking([user(content)]), 0);
    expect(reply['allow']).toBe(true);
    expect(JSON.stringify(reply)).not.toContain(JSON.stringify(secret).slice(1, -1));
  });
  fc.assert(property, { numRuns: 200 });
});

const texts = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc
    .array(
      fc.oneof(
        secrets,
        fc.constantFrom(
          '<EMAIL_ADDRESS_1>',
          '<literal_2>',
          '&lt;US_SSN_1&gt;',
          '<CREDIT_CARD_',
          '1>',
          '<',
          '_1>',
          '{"a":"',
          '"}',
          '\\u003cEMAIL_ADDRESS_1>',
        ),
        fc.string({ maxLength: 6 }),
      ),
      { maxLength: 12 },
    )
    .chain((parts) => fc.constantFrom(' ', '', '\n', ', ').map((joint) => parts.join(joint))),
  fc.json(),
);

test('restored pseudonyms give the original', () => {
  const property = fc.property(fc.array(texts, { minLength: 1, maxLength: 4 }), (contents) => {
    const subject = filter('pseudonymise', { entities: entityNames });
    const request = { messages: contents.map(user) };
    const { replace } = subject.answer(asking(request.messages), 0);
    const messages =
      isObject(replace) && Array.isArray(replace['messages']) ? replace['messages'] : request.messages;
    const back = messages.map(({ content }) => {
      return contentOf(subject.answer(answering({ ...request, messages }, { content }), 0)) ?? content;
    });
    expect(back.map(sameJson)).toEqual(contents.map(sameJson));
  });
  fc.assert(property, {
    numRuns: 150,
    examples: [[['{"a":" \\u003cEMAIL_ADDRESS_1> "}']], [['{"a": 1.0, "b": "x@example.com"}']]],
  });
});

/** Parses JSON, so that differences in escaping do not count. Other text must match exactly. */
function sameJson(content: unknown): unknown {
  if (typeof content !== 'string' || !/^\s*[{[]/.test(content)) return content;
  try {
    return { json: JSON.parse(content) };
  } catch {
    return content;
  }
}

function contentOf({ replace }: FilterReply): unknown {
  return isObject(replace) && isObject(replace['message']) ? replace['message']['content'] : undefined;
}

function shapeOf(value: unknown): unknown {
  if (typeof value === 'string') return 'a string';
  if (Array.isArray(value)) return value.map(shapeOf);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)]));
}

const trees = fc.object({
  key: fc.oneof(fc.string(), fc.constantFrom('ssn', 'password', '__proto__', 'toString')),
  values: [
    fc.string(),
    secrets,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  ],
  maxDepth: 3,
});

test.each(actions)('arguments change in their strings only, or are denied: %s', (action) => {
  const subject = filter(action);
  const property = fc.property(trees, (tree) => {
    const args: unknown = JSON.parse(JSON.stringify(tree));
    const { allow, replace } = subject.answer(executing(args), 0);
    const changed = isObject(replace) ? replace['args'] : args;
    expect(allow === false ? shapeOf(args) : shapeOf(changed)).toEqual(shapeOf(args));
  });
  fc.assert(property, { numRuns: 40 });
});

const anything = fc.jsonValue({ maxDepth: 3 });
const messages = fc.array(
  fc.record(
    {
      role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
      content: texts,
      parts: fc.array(
        fc.record({ type: fc.constant('text'), text: texts, media: anything }, { requiredKeys: ['type'] }),
      ),
      tool_calls: fc.array(fc.record({ id: fc.string(), name: fc.string(), args: anything })),
      tool_result: fc.record({ id: fc.string(), error: texts, parts: fc.array(fc.record({ text: texts })) }),
      reasoning: texts,
      meta: anything,
    },
    { requiredKeys: ['role', 'content'] },
  ),
  { maxLength: 3 },
);

test.each(actions)(
  'every payload of the right shape is answered, with counts that are numbers: %s',
  (action) => {
    const subject = filter(action, { entities: entityNames });
    const property = fc.property(messages, texts, trees, (list, text, tree) => {
      const payloads = [
        asking(list, {}, text),
        answering({ messages: list }, list[0] ?? { content: text }),
        executing(JSON.parse(JSON.stringify(tree))),
        executed(text),
      ];
      for (const payload of payloads) {
        const { allow, metadata } = subject.answer(payload, 0);
        expect([true, false]).toContain(allow);
        const counts = isObject(metadata)
          ? Object.values(metadata).flatMap((part) => Object.values(part ?? {}))
          : [];
        expect(counts.every((count) => Number.isInteger(count))).toBe(true);
      }
    });
    fc.assert(property, { numRuns: 40 });
  },
);

test('findings lie within the text, in order, and do not overlap', () => {
  const detect = detector(entityNames);
  const property = fc.property(fc.oneof(texts, fc.string({ unit: 'binary' })), (text) => {
    let from = 0;
    for (const { start, end } of detect(text)) {
      expect(start).toBeGreaterThanOrEqual(from);
      expect(end).toBeGreaterThan(start);
      from = end;
    }
    expect(from).toBeLessThanOrEqual(text.length);
  });
  fc.assert(property, { numRuns: 150 });
});
