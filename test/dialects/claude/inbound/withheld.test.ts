import fc from 'fast-check';
import { expect, test } from 'vitest';
import { claudeEvents } from '../../../../src/dialects/claude/config/settings.ts';
import {
  fitsResultType,
  parseType,
  withholdResult,
} from '../../../../src/dialects/claude/inbound/withheld.ts';
import { publishedEvents, resultTypes } from '../../../../src/dialects/claude/published.ts';

type ResultType = ReturnType<typeof parseType>;

const MARK = 'SECRET';
const secret = fc.constantFrom(MARK, `the ${MARK} is 42`, `${MARK}\n`);
const anything = fc.oneof(secret, fc.array(secret), fc.dictionary(fc.constantFrom(MARK, `x${MARK}`), secret));

/** Values of a type, with marks in every text and in unknown members. */
function valuesOf(type: ResultType): fc.Arbitrary<unknown> {
  switch (type.kind) {
    case 'string':
      return secret;
    case 'number':
      return fc.constant(42);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'unknown':
      return anything;
    case 'literal':
      return fc.constant(type.value);
    case 'list':
      return fc.array(valuesOf(type.item), { maxLength: 3 });
    case 'tuple':
      return fc
        .tuple(
          fc.tuple(...type.items.map(valuesOf)),
          type.rest ? fc.array(valuesOf(type.rest)) : fc.constant([]),
        )
        .map(([items, rest]) => [...items, ...rest]);
    case 'union':
      return fc.oneof(...type.options.map(valuesOf));
    case 'object': {
      const required = type.members.filter(({ isOptional }) => !isOptional).map(({ key }) => key);
      const known = Object.fromEntries(type.members.map(({ key, type: own }) => [key, valuesOf(own)]));
      return fc
        .tuple(
          fc.record(known, { requiredKeys: required }),
          fc.dictionary(fc.constantFrom(MARK, `type${MARK}`, 'note'), anything),
        )
        .map(([own, more]) => ({ ...more, ...own }));
    }
  }
}

const tools = Object.keys(resultTypes);

test.each(tools)('property: only the form of a withheld result of %s is left [DS-INBOUND-04]', (name) => {
  const tool = name.replace('*', 'srv__tool');
  const type = parseType(resultTypes[name] ?? '');
  fc.assert(
    fc.property(fc.oneof(valuesOf(type), anything), (result) => {
      const withheld = withholdResult(tool, result, '[withheld: why]');
      expect(JSON.stringify(withheld)).not.toMatch(/SECRET|42/);
      expect(fitsResultType(tool, withheld?.result)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test('a literal of the type stays, and a text in place of encoded data gets another form', () => {
  const commit = { sha: 'abc', kind: 'committed', branch: 'main' };
  const bash = { stdout: 's', stderr: '', interrupted: false, isImage: true, gitOperation: { commit } };
  expect(withholdResult('Bash', bash, 'w')?.result).toEqual({
    ...{ stdout: 'w', stderr: '', interrupted: false },
    gitOperation: { commit: { sha: 'w', kind: 'committed', branch: 'w' } },
  });
  const image = { type: 'image', file: { base64: 'eA==', type: 'image/png', originalSize: 4 } };
  expect(withholdResult('Read', image, 'w')?.result).toEqual({
    type: 'text',
    file: { filePath: 'w', content: 'w', numLines: 0, startLine: 0, totalLines: 0 },
  });
  expect(withholdResult('mcp__a__b', [{ type: 'text', text: 's' }], 'w')?.result).toBe('w');
  expect(withholdResult('Unheard', 's', 'w')).toBeUndefined();
});

test('the known events are those of the pinned Claude Code', () => {
  expect(claudeEvents.toSorted()).toEqual(publishedEvents);
});
