import { describe, expect, test } from 'vitest';
import { compileSchema } from '../../../schema/standalone.ts';
import { checkSchema, formatProblem } from '../../../src/base/yaml/check.ts';
import { readDocument } from '../../../src/base/yaml/document.ts';
import type { Problem } from '../../../src/base/yaml/problem.ts';
import { line, write } from '../../config/told.ts';

const schema = {
  type: 'object',
  required: ['kind'],
  additionalProperties: false,
  properties: {
    kind: { const: 'Fleet' },
    spec: {
      type: 'object',
      additionalProperties: false,
      properties: {
        ships: { type: 'object', additionalProperties: { $ref: '#/$defs/ship' }, minProperties: 1 },
        crew: { type: 'array', minItems: 2, maxItems: 3, uniqueItems: true, items: { type: 'string' } },
        port: { oneOf: [{ type: 'string' }, { $ref: '#/$defs/port' }] },
        load: { anyOf: [{ type: 'integer' }, { const: 'full' }, { enum: ['half', 'none'] }] },
        sail: {
          anyOf: [
            {
              type: 'object',
              required: ['area'],
              additionalProperties: false,
              properties: { area: { type: 'number' } },
            },
            {
              type: 'object',
              required: ['motor'],
              additionalProperties: false,
              properties: { motor: { type: 'string' } },
            },
          ],
        },
        course: { type: 'object', oneOf: [{ required: ['to'] }, { required: ['away_from'] }] },
        names: {
          type: 'object',
          propertyNames: { pattern: '^[a-z]+$' },
          patternProperties: { '^x': { type: 'number' } },
        },
        pair: { type: 'object', dependentRequired: { left: ['right'] }, not: { required: ['both'] } },
        code: { type: 'string', pattern: '^[A-Z]{3}$', minLength: 2, maxLength: 4 },
      },
    },
  },
  $defs: {
    ship: {
      type: ['object', 'null'],
      required: ['name', 'masts'],
      additionalProperties: false,
      properties: {
        name: { type: 'string', minLength: 1 },
        masts: { type: 'integer', minimum: 1, maximum: 4 },
        length_m: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 500, multipleOf: 0.5 },
        rig: { type: 'string', enum: ['sloop', 'ketch', 'schooner'] },
        flags: { type: 'array', items: { type: ['string', 'boolean'] } },
      },
    },
    port: {
      type: 'object',
      required: ['city'],
      additionalProperties: false,
      properties: { city: { type: 'string' } },
    },
  },
};

const validate = compileSchema(schema);

function check(spec: string): string[] {
  const file = write('fleet.yaml', `kind: Fleet\nspec:\n  ${spec.replaceAll('\n', '\n  ')}\n`);
  return checkSchema(readDocument(file), schema, validate).map(line);
}

const ship = 'name: a, masts: 2';

describe('every difference is one sentence with a path, at its place', () => {
  test.each([
    { spec: `ships: {a: {${ship}, flags: [x, true], rig: ketch, length_m: 7.5}, b: }`, problems: [] },
    {
      spec: `ships: {a: {${ship}, lenght_m: 5}}`,
      problems: ['error 3:34 ships[a].lenght_m: unknown key | did you mean `length_m`?'],
    },
    {
      spec: `ships: {a: {${ship}, lengthM: 5}}`,
      problems: ['error 3:34 ships[a].lengthM: unknown key | did you mean `length_m`?'],
    },
    {
      spec: `ships: {a: {${ship}, zebra: 5}}`,
      problems: ['error 3:34 ships[a].zebra: unknown key | known keys: name, masts, length_m, rig, flags'],
    },
    { spec: 'ships: {a: {masts: 1}}', problems: ['error 3:11 ships[a].name: is required'] },
    {
      spec: 'ships: {a: {nmae: x, masts: 1}}',
      problems: ['error 3:15 ships[a].nmae: unknown key | did you mean `name`?'],
    },
    { spec: 'ships: {}', problems: ['error 3:10 ships: must not be empty'] },
    {
      spec: 'ships: [a]',
      problems: [
        'error 3:10 ships: must be a mapping, not a list | Write each entry as its name and a colon, without `-`.',
      ],
    },
    {
      spec: 'ships: {a: {name: 5, masts: "2"}}',
      problems: [
        'error 3:21 ships[a].name: must be a string, not the number 5 | Write "5", with quotes.',
        'error 3:31 ships[a].masts: must be a whole number, not the string "2" | Write 2, without quotes.',
      ],
    },
    {
      spec: 'ships: {a: {name: "", masts: }}',
      problems: [
        'error 3:21 ships[a].name: must not be empty',
        'error 3:25 ships[a].masts: must be a whole number, not nothing',
      ],
    },
    {
      spec: 'ships: {a: {name: {}, masts: true}}',
      problems: [
        'error 3:21 ships[a].name: must be a string, not a mapping',
        'error 3:32 ships[a].masts: must be a whole number, not true',
      ],
    },
    {
      spec: 'ships: {a: {name: x, masts: 0}}',
      problems: ['error 3:31 ships[a].masts: must be at least 1 (got: 0)'],
    },
    {
      spec: 'ships: {a: {name: x, masts: 5}}',
      problems: ['error 3:31 ships[a].masts: must be at most 4 (got: 5)'],
    },
    {
      spec: `ships: {a: {${ship}, length_m: 0}}`,
      problems: ['error 3:44 ships[a].length_m: must be more than 0 (got: 0)'],
    },
    {
      spec: `ships: {a: {${ship}, length_m: 500}}`,
      problems: ['error 3:44 ships[a].length_m: must be less than 500 (got: 500)'],
    },
    {
      spec: `ships: {a: {${ship}, length_m: 1.2}}`,
      problems: ['error 3:44 ships[a].length_m: must be a multiple of 0.5 (got: 1.2)'],
    },
    {
      spec: `ships: {a: {${ship}, rig: shooner}}`,
      problems: [
        'error 3:39 ships[a].rig: must be one of: sloop, ketch, schooner (got: shooner) | did you mean `schooner`?',
      ],
    },
    {
      spec: `ships: {a: {${ship}, rig: [x]}}`,
      problems: ['error 3:39 ships[a].rig: must be one of: sloop, ketch, schooner (got: a list)'],
    },
    {
      spec: `ships: {a: {${ship}, flags: [x, 5]}}`,
      problems: [
        'error 3:45 ships[a].flags[1]: must be a string or true or false, not the number 5 | Write "5", with quotes.',
      ],
    },
    { spec: 'crew: [a]', problems: ['error 3:9 crew: must have at least 2 items'] },
    { spec: 'crew: [a, b, c, d]', problems: ['error 3:9 crew: must have at most 3 items'] },
    { spec: 'crew: [a, b, a]', problems: ['error 3:9 crew: items 0 and 2 are the same'] },
    { spec: 'code: abc', problems: ['error 3:9 code: must match ^[A-Z]{3}$ (got: abc)'] },
    { spec: 'code: A', problems: ['error 3:9 code: must have at least 2 characters'] },
    { spec: 'names: {Ab: 1}', problems: ['error 3:11 names[Ab]: the name must match ^[a-z]+$ (got: Ab)'] },
    { spec: 'names: {xy: z}', problems: ['error 3:15 names[xy]: must be a number, not the string "z"'] },
    { spec: 'pair: {left: 1}', problems: ['error 3:9 pair: `left` also needs `right`'] },
    { spec: 'pair: {both: 1}', problems: ['error 3:9 pair: is a combination that is not allowed'] },
  ])('$spec', ({ spec, problems }) => {
    expect(check(spec)).toEqual(problems);
  });
});

describe('a union is reported by the intended branch', () => {
  test.each([
    { spec: 'port: Kiel', problems: [] },
    { spec: 'port: {city: Kiel}', problems: [] },
    { spec: 'port: {}', problems: ['error 3:3 port.city: is required'] },
    {
      spec: 'port: {city: 5}',
      problems: ['error 3:16 port.city: must be a string, not the number 5 | Write "5", with quotes.'],
    },
    { spec: 'port: {cty: Kiel}', problems: ['error 3:10 port.cty: unknown key | did you mean `city`?'] },
    {
      spec: 'port: 5',
      problems: ['error 3:9 port: must be a string or a mapping, not the number 5 | Write "5", with quotes.'],
    },
    { spec: 'load: full', problems: [] },
    { spec: 'load: 7', problems: [] },
    { spec: 'load: empty', problems: ['error 3:9 load: must be one of: full, half, none (got: empty)'] },
    { spec: 'sail: {area: big}', problems: ['error 3:16 sail.area: must be a number, not the string "big"'] },
    {
      spec: 'sail: {motor: 5}',
      problems: ['error 3:17 sail.motor: must be a string, not the number 5 | Write "5", with quotes.'],
    },
    { spec: 'course: {to: x}', problems: [] },
    { spec: 'course: {}', problems: ['error 3:11 course: needs one of: to, away_from'] },
    {
      spec: 'course: {to: x, away_from: y}',
      problems: ['error 3:11 course: accepts only one of: to, away_from'],
    },
  ])('$spec', ({ spec, problems }) => {
    expect(check(spec)).toEqual(problems);
  });
});

describe('the root', () => {
  test.each([
    {
      text: '[]',
      problems: [
        'error 1:1 must be a mapping, not a list | Write each entry as its name and a colon, without `-`.',
      ],
    },
    { text: 'kind: Flet', problems: ['error 1:7 kind: must be Fleet (got: Flet) | did you mean `Fleet`?'] },
    { text: '\nspec: {}', problems: ['error 2:1 kind: is required'] },
    {
      text: 'kind: Fleet\nspec: []',
      problems: [
        'error 2:7 spec: must be a mapping, not a list | Write each entry as its name and a colon, without `-`.',
      ],
    },
    { text: 'kind: Fleet\nspecs: {}', problems: ['error 2:1 specs: unknown key | did you mean `spec`?'] },
    { text: 'kind: [', problems: [] },
  ])('$text', ({ text, problems }) => {
    expect(checkSchema(readDocument(write('root.yaml', text)), schema, validate).map(line)).toEqual(problems);
  });
});

test('problems come in the order of the file', () => {
  expect(check('port: 5\nload: x\nships: {b: {}, a: {x: 1}}').map((text) => text.split(' ')[1])).toEqual([
    '3:9',
    '4:9',
    '5:11',
    '5:11',
    '5:18',
    '5:18',
    '5:22',
  ]);
});

describe('a problem in print', () => {
  const problem: Problem = {
    file: 'a b.yaml',
    line: 3,
    column: 14,
    severity: 'error',
    message: 'port: is far',
  };
  test.each([
    { problem, text: 'a b.yaml:3:14 port: is far' },
    { problem: { ...problem, severity: 'warning' as const }, text: 'a b.yaml:3:14 warning: port: is far' },
    {
      problem: { ...problem, severity: 'note' as const, hint: 'Sail.' },
      text: 'a b.yaml:3:14 note: port: is far\n    hint: Sail.',
    },
  ])('$text', ({ problem: told, text }) => {
    expect(formatProblem(told)).toBe(text);
  });
});
