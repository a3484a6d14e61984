import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Json, stringifyJson } from '../../../src/base/json/json.ts';
import { elementsOf, membersOf } from '../../../src/base/json/scan.ts';
import { compileDataSchema } from '../../../src/base/yaml/data-schema.ts';

/**
 * The official JSON-Schema-Test-Suite from Debian (libtest-json-schema-acceptance-perl), or a checkout named by
 * JSON_SCHEMA_TEST_SUITE. No npm package has its later drafts.
 */
const home =
  process.env['JSON_SCHEMA_TEST_SUITE'] ?? '/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance';

const drafts = {
  'draft2020-12': 'https://json-schema.org/draft/2020-12/schema',
  'draft2019-09': 'https://json-schema.org/draft/2019-09/schema',
  draft7: 'http://json-schema.org/draft-07/schema#',
};

/** Known failures with their reason, by the start of `file: group: test`. */
const exceptions: readonly (readonly [start: string, why: string])[] = [
  // Refused when the schema is read.
  ['refRemote.json', 'it refers to another document; nothing is fetched'],
  ['dynamicRef.json: strict-tree', 'it refers to another document'],
  ['dynamicRef.json: tests for implementation dynamic anchor', 'it refers to another document'],
  ['dynamicRef.json: $ref and $dynamicAnchor are independent', 'it refers to another document'],
  ['dynamicRef.json: $ref to $dynamicRef finds detached', 'it refers to another document'],
  ['optional/cross-draft.json', 'it refers to another document'],
  ['dynamicRef.json: A $dynamicRef that initially resolves', 'ajv knows a $dynamicRef of a fragment only'],
  ['dynamicRef.json: after leaving a dynamic scope', 'ajv knows a $dynamicRef of a fragment only'],
  ['unknownKeyword.json', 'ajv takes $id within unknown keywords for ids, two of which are the same'],
  ['unevaluatedItems.json', 'unevaluatedItems over contains, or over items of a branch'],
  ['unevaluatedProperties.json', 'unevaluatedProperties over `if` without `then`'],
  // Refused when data is checked.
  ['ref.json: refs with relative uris and defs', 'ajv resolves a relative $id below another against itself'],
  [
    'ref.json: relative refs with absolute uris and defs',
    'ajv resolves a relative $id below another against itself',
  ],
  ['ref.json: URN ref with nested pointer ref', 'ajv resolves pointers into a URN against itself'],
  // Valid data is refused.
  [
    'dynamicRef.json: A $dynamicRef',
    'ajv takes it for a reference to the outermost anchor whatever stands between',
  ],
  ['dynamicRef.json: An $anchor with the same name', 'the same'],
  ['vocabulary.json', 'it refers to a meta-schema of its own'],
  // A different interpretation.
  ['optional/format-assertion.json', 'formats are annotations, whatever a meta-schema of its own says'],
  [
    'recursiveRef.json: $recursiveRef with no $recursiveAnchor in the initial',
    'ajv looks for the outermost schema',
  ],
  ['ref.json: $ref prevents a sibling $id', 'ajv reads an $id beside a $ref'],
  ['optional/content.json', 'contentMediaType and contentEncoding are annotations, as later drafts have it'],
  ['optional/ecmascript-regex.json: \\a is not', 'read without Unicode mode, as many schemas need it'],
  ['optional/format/email.json', 'ajv-formats knows no quoted local part and no address literal'],
  ['optional/format/idn-email.json', 'an unknown format, which is ignored'],
  ['optional/format/idn-hostname.json', 'an unknown format, which is ignored'],
  ['optional/format/iri.json', 'an unknown format, which is ignored'],
  ['optional/format/iri-reference.json', 'an unknown format, which is ignored'],
];

interface Failure {
  readonly name: string;
  readonly found: string;
}

function runFile(
  draft: string,
  schemaId: string,
  file: string,
): { readonly run: number; readonly failures: Failure[] } {
  const failures: Failure[] = [];
  let run = 0;
  const groups = elementsOf(new Json(readFileSync(join(home, 'tests', draft, file), 'utf8').trim()));
  for (const group of groups) {
    const { description, schema: given, tests } = membersOf(group);
    if (given === undefined || tests === undefined) throw new Error(`${file} has a group without a schema`);
    const schema =
      typeof given.value === 'object' && !given.text.includes('"$schema"')
        ? new Json(stringifyJson({ $schema: schemaId, ...membersOf(given) }))
        : given;
    const compile = () => compileDataSchema(schema, { hasFormats: file.startsWith('optional/format/') });
    let validate: ReturnType<typeof compile> | undefined;
    let refused = '';
    try {
      validate = compile();
    } catch (thrown) {
      refused = String(thrown);
    }
    for (const each of elementsOf(tests)) {
      run += 1;
      const { description: title, data, valid } = membersOf(each);
      const name = `${draft}/${file}: ${description?.value}: ${title?.value}`;
      const found =
        validate === undefined ? refused : data === undefined ? 'no data' : String(attempt(validate, data));
      if (found !== String(valid?.value)) failures.push({ name, found });
    }
  }
  return { run, failures };
}

function attempt(validate: (value: unknown) => boolean, data: Json): unknown {
  try {
    return validate(data);
  } catch (thrown) {
    return thrown;
  }
}

describe.skipIf(!existsSync(home))('the official JSON-Schema-Test-Suite', () => {
  test.each(Object.entries(drafts))('%s passes, except for the listed exceptions', (draft, schemaId) => {
    const files = readdirSync(join(home, 'tests', draft), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json'))
      .toSorted();
    const results = files.map((file) => runFile(draft, schemaId, file));
    const run = results.reduce((sum, each) => sum + each.run, 0);
    const failures = results.flatMap((each) => each.failures);
    const isListed = ({ name }: Failure) =>
      exceptions.some(([start]) => name.slice(draft.length + 1).startsWith(start));
    console.log(
      `${draft}: ${run} tests, ${run - failures.length} as the suite says, ${failures.length} listed`,
    );
    expect(
      failures.filter((failure) => !isListed(failure)).map(({ name, found }) => `${name}\n    ${found}`),
    ).toEqual([]);
    expect(run).toBeGreaterThan(500);
  });
});
