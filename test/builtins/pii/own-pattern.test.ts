import { describe, expect, test } from 'vitest';
import type { OwnPattern } from '../../../src/builtins/pii/own-pattern.ts';
import type { ScanPlace } from '../../../src/builtins/pii/settings.ts';
import { actionsOf, answering, asking, executed, executing, filter, user } from './support.ts';

const employee: OwnPattern = {
  name: 'EMPLOYEE_ID',
  pattern: 'EMP-\\d{6}',
  context: ['employee', '员工'],
  checksum: undefined,
};
const account: OwnPattern = { name: 'ACCOUNT', pattern: '\\b\\d{11}\\b', context: [], checksum: 'mod11_10' };

function redacted(
  content: string,
  patterns: readonly OwnPattern[],
  action: 'redact' | 'block' | 'pseudonymise' = 'redact',
) {
  return filter(action, {
    patterns,
    entities: [],
    actions: { ...actionsOf(action), EMPLOYEE_ID: action },
  }).answer(asking([user(content)]), 0);
}

describe('a user’s pattern', () => {
  test('needs one of its words in the same line', () => {
    const text = 'employee EMP-123456\nEMP-654321\n员工EMP-111111，EMP-222222 is an employee';
    expect(redacted(text, [employee])).toMatchObject({
      replace: {
        messages: [
          { content: 'employee [EMPLOYEE_ID]\nEMP-654321\n员工[EMPLOYEE_ID]，[EMPLOYEE_ID] is an employee' },
        ],
      },
      metadata: { pii: { EMPLOYEE_ID: 3 } },
    });
  });

  test('has a checksum', () => {
    expect(redacted('19385028676 and 19385028677', [account])).toMatchObject({
      replace: { messages: [{ content: '[ACCOUNT] and 19385028677' }] },
    });
  });

  test('blocks under its name', () => {
    expect(redacted('employee EMP-123456', [employee], 'block')).toMatchObject({
      allow: false,
      reason: 'the request holds 1 EMPLOYEE_ID',
    });
  });

  test('gets pseudonyms, which are restored', () => {
    const pii = filter('pseudonymise', {
      patterns: [employee],
      actions: { ...actionsOf('pseudonymise'), EMPLOYEE_ID: 'pseudonymise' },
    });
    const asked = asking([user('employee EMP-123456')]);
    expect(pii.answer(asked, 0)).toMatchObject({
      replace: { messages: [{ content: 'employee <EMPLOYEE_ID_1>' }] },
    });
    expect(pii.answer(answering(asked.request, { content: 'I see <EMPLOYEE_ID_1>' }), 0)).toMatchObject({
      replace: { message: { content: 'I see EMP-123456' } },
    });
  });

  test('cannot be slow', () => {
    const evil: OwnPattern = { name: 'EVIL', pattern: '(a+)+!', context: [], checksum: undefined };
    expect(redacted('a'.repeat(50_000), [evil])).toMatchObject({ allow: true });
  });
});

describe('unscanned parts', () => {
  const card = '4111 1111 1111 1111';
  const places: Readonly<Record<ScanPlace, (scan: readonly ScanPlace[]) => unknown>> = {
    system: (scan) => scanned(scan, asking([user('hi')], {}, card)),
    user: (scan) => scanned(scan, asking([user(card)])),
    assistant: (scan) => scanned(scan, asking([{ role: 'assistant', content: card }])),
    tool: (scan) => scanned(scan, executed(card)),
    args: (scan) => scanned(scan, executing({ card })),
    definitions: (scan) => scanned(scan, withOther({ tools: [{ description: card }] })),
    other: (scan) => scanned(scan, withOther({ user: card })),
  };
  const names = Object.keys(places).filter((name): name is ScanPlace => Object.hasOwn(places, name));

  test.each(names)('%s stays, and is removed where it is scanned', (place) => {
    expect(places[place](names.filter((name) => name !== place))).toMatchObject({ metadata: { pii: {} } });
    const alone = JSON.stringify(places[place]([place]));
    expect(alone).toMatch(/CREDIT_CARD/);
    expect(alone).not.toContain(card);
  });

  test('still has its pseudonyms restored', () => {
    const pii = filter('pseudonymise', { scan: new Set(['user']) });
    const asked = asking([user(`my card is ${card}`)]);
    pii.answer(asked, 0);
    expect(pii.answer(answering(asked.request, { content: 'so <CREDIT_CARD_1>' }), 0)).toMatchObject({
      replace: { message: { content: `so ${card}` } },
    });
  });
});

function scanned(scan: readonly ScanPlace[], payload: unknown): unknown {
  return filter('redact', { scan: new Set(scan) }).answer(payload, 0);
}

function withOther(other: object) {
  const { request, ...rest } = asking([user('hi')]);
  return { ...rest, request: { ...request, other } };
}
