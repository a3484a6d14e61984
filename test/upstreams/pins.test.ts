import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { toFault } from '../../src/base/errors.ts';
import { stringifyJson } from '../../src/base/json/json.ts';
import type { RuntimeEvent } from '../../src/contract/event.ts';
import { memoryFile } from '../../src/store/sqlite/connection.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { type JudgedListing, type Listing, openPins, type PinsOptions } from '../../src/upstreams/pins.ts';

const read =
  '{"name":"read","description":"Reads a file.","annotations":{"readOnlyHint":true},"inputSchema":{}}';
const write = '{"name":"write","inputSchema":{"type":"object"}}';

function listing(tools: readonly string[], instructions?: string): Listing {
  return { instructions, tools };
}

async function openStore(): Promise<Store> {
  const store = await openSqliteStore(memoryFile);
  onTestFinished(() => store.close());
  return store;
}

async function open({
  policy = 'first_seen',
  store,
}: Partial<Pick<PinsOptions, 'policy'>> & { store?: Store } = {}) {
  const kept = store ?? (await openStore());
  const events: RuntimeEvent[] = [];
  const emit = (event: RuntimeEvent) => void events.push(event);
  const pins = openPins({ server: 'files', policy, store: async () => kept, emit });
  const accept = async (now: Listing) =>
    await pins.accept(now, { by: 'ada', digest: (await pins.report(now)).digest });
  const warnings = () => events.flatMap((event) => (event.type === 'note' ? [event.message] : []));
  return { ...pins, acceptAll: accept, warnings, store: kept };
}

/** The definitions that may be shown, and of each denied tool its message. */
function shown({ instructions, tools }: JudgedListing) {
  return {
    instructions,
    allowed: tools.flatMap((tool) => ('definition' in tool ? [tool.definition.text] : [])),
    denied: tools.flatMap((tool) => ('denied' in tool ? [toFault(tool.denied).message] : [])),
  };
}

const withoutHints = '{"name":"read","description":"Reads a file.","inputSchema":{}}';
const denied = (name: string, why: string) =>
  `tool "${name}" of MCP server "files" ${why}, and no person has accepted its definition`;

describe('the first sight of a server', () => {
  test('pins everything with one warning, and annotations do not pass', async () => {
    const { judge, warnings } = await open();
    const first = listing([read, write], 'Use with care.');
    const allowed = { instructions: 'Use with care.', allowed: [withoutHints, write], denied: [] };
    expect(shown(await judge(first))).toEqual(allowed);
    expect(shown(await judge(first))).toEqual(allowed);
    expect(warnings()).toEqual([
      'MCP server "files": its 3 definitions were seen for the first time. Read and accept them: `signalbox mcp pin files`',
    ]);
  });

  test('annotations do not pass under an escaped name either', async () => {
    const { judge } = await open();
    const escaped = read.replace('annotations', String.raw`\u0061nnotation\u0073`);
    expect(shown(await judge(listing([escaped]))).allowed).toEqual([withoutHints]);
  });

  test('with `pins: required` nothing passes until a person accepts', async () => {
    const { judge, acceptAll, warnings } = await open({ policy: 'required' });
    const first = listing([read], 'Use with care.');
    expect(shown(await judge(first))).toEqual({
      ...{ instructions: undefined, allowed: [], denied: [denied('read', 'is as first seen')] },
    });
    expect(warnings()[0]).toContain('Nothing passes until a person accepts them: `signalbox mcp pin files`');
    await acceptAll(first);
    expect(shown(await judge(first))).toEqual({
      instructions: 'Use with care.',
      allowed: [read],
      denied: [],
    });
  });

  test('a part of a listing pins nothing, and nothing of it passes', async () => {
    const { judge, store } = await open();
    expect(shown(await judge(listing([read], 'Hi.'), { isPart: true }))).toEqual({
      ...{ instructions: undefined, allowed: [], denied: [denied('read', 'is new')] },
    });
    expect(await store.findPin('files')).toBeUndefined();
  });

  test('of two that see different definitions at once, one wins', async () => {
    const store = await openStore();
    const [one, two] = [await open({ store }), await open({ store })];
    const changed = read.replace('Reads', 'Sends');
    const judged = await Promise.all([one.judge(listing([read])), two.judge(listing([changed, write]))]);
    expect(judged.map(shown).filter(({ denied: none }) => none.length === 0)).toHaveLength(1);
  });
});

describe('a definition that a person accepted', () => {
  const accepted = async (...tools: string[]) => {
    const opened = await open();
    await opened.judge(listing(tools, 'Hi.'));
    await opened.acceptAll(listing(tools, 'Hi.'));
    return opened;
  };

  test.each([
    [
      'another order of members',
      '{"inputSchema":{}, "annotations":{"readOnlyHint":true},"description":"Reads a file.","name":"read"}',
    ],
    ['white space', read.replaceAll(',', ' ,\n ')],
    ['another spelling of a string', read.replace('Reads', String.raw`\u0052eads`)],
  ])('passes to the byte with %s', async (_, text) => {
    const { judge } = await accepted(read);
    expect(shown(await judge(listing([text], 'Hi.')))).toEqual({
      instructions: 'Hi.',
      allowed: [text],
      denied: [],
    });
  });

  const more = (member: string) => read.replace(/\}$/, `,${member}}`);
  test.each([
    ['an unknown member', more('"x-new":null')],
    ['_meta', more('"_meta":{}')],
    ['icons', more('"icons":[{"src":"data:,"}]')],
    ['a title', more('"title":"Read"')],
    ['an output schema', more('"outputSchema":{"type":"object"}')],
    ['a member called __proto__', more('"__proto__":{"x":1}')],
    ['a member of the schema', read.replace('"inputSchema":{}', '"inputSchema":{"default":1}')],
    ['annotations', read.replace('true', 'false')],
    ['a number that is written as 1.0', read.replace('{}', '{"maximum":1.0}')],
    ['an upper-case letter', read.replace('Reads', 'READS')],
    ['a character without width', read.replace('Reads', 'Reads\u200b')],
    ['a direction mark', read.replace('Reads', '\u202eReads')],
    ['a lone surrogate', read.replace('Reads', String.raw`\ud800Reads`)],
    ['a cyrillic letter', read.replace('Reads a', 'Reads а')],
  ])('does not pass with %s', async (_, text) => {
    const { judge, warnings } = await accepted(read, write);
    const judged = shown(await judge(listing([text, write], 'Hi.')));
    expect(judged).toEqual({
      instructions: 'Hi.',
      allowed: [write],
      denied: [denied('read', 'has changed')],
    });
    expect(warnings().at(-1)).toBe(
      `MCP server "files": 1 tool denied until a person runs \`signalbox mcp pin files\`: ${denied('read', 'has changed')}`,
    );
  });

  test.each([
    ['1', '1.0'],
    ['1', '1e0'],
    ['12345678901234567890', '12345678901234567891'],
    ['"é"', '"e\u0301"'],
    ['{"a":[1,2]}', '{"a":[2,1]}'],
  ])('%s is not %s', async (one, other) => {
    const tool = (value: string) => `{"name":"t","x":${value}}`;
    const { judge } = await accepted(tool(one));
    expect(shown(await judge(listing([tool(other)], 'Hi.'))).denied).toEqual([denied('t', 'has changed')]);
  });

  test('a new tool, a renamed one, and one under the name of another are denied', async () => {
    const { judge } = await accepted(read, write);
    const [renamed, swapped] = [write.replace('write', 'put'), read.replace('read', 'write')];
    expect(shown(await judge(listing([read, renamed, swapped], 'Hi.')))).toEqual({
      instructions: 'Hi.',
      allowed: [read],
      denied: [denied('put', 'is new'), denied('write', 'has changed')],
    });
  });

  test.each(['Hi!', 'Hi.\u200b', 'hi.'])('changed instructions are withheld: %j', async (now) => {
    const { judge } = await accepted(read);
    expect((await judge(listing([read], now))).instructions).toBeUndefined();
  });

  test('a tool that is removed and comes back passes, until a person accepts its removal', async () => {
    const { judge, report, acceptAll } = await accepted(read, write);
    expect(await report(listing([read], 'Hi.'))).toMatchObject({ waits: false, accepted_by: 'ada' });
    expect(shown(await judge(listing([read, write], 'Hi.'))).denied).toEqual([]);
    await acceptAll(listing([read], 'Hi.'));
    expect(shown(await judge(listing([read, write], 'Hi.'))).denied).toEqual([denied('write', 'is new')]);
  });

  test('a connection that gets other definitions is judged for itself', async () => {
    const { store } = await accepted(read);
    const other = await open({ store });
    expect(shown(await other.judge(listing([read.replace('Reads', 'Sends')], 'Hi.'))).denied).toEqual([
      denied('read', 'has changed'),
    ]);
  });

  test('every change of a generated definition is denied, and no change of its spelling is', async () => {
    const keys = fc.constantFrom('a', 'b', '__proto__', 'constructor', '10', '9', '', 'é', '\u{1f600}');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        ...[fc.string({ unit: 'binary', maxLength: 3 }), fc.integer(), fc.constant(null), fc.boolean()],
        fc.array(tie('value'), { maxLength: 3 }),
        fc.array(fc.tuple(keys, tie('value')), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs)),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(value, value, async (one, other) => {
        const tool = (extra: unknown) => stringifyJson({ name: 't', extra });
        const { judge } = await accepted(tool(one));
        const isSame = stringifyJson(sorted(one)) === stringifyJson(sorted(other));
        expect(shown(await judge(listing([tool(other)], 'Hi.'))).denied).toHaveLength(isSame ? 0 : 1);
        expect(shown(await judge(listing([tool(reversed(one))], 'Hi.'))).denied).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

/** With the members of objects in the order of their names, or in the opposite one. */
function sorted(value: unknown, sign = 1): unknown {
  if (Array.isArray(value)) return value.map((item) => sorted(item, sign));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -sign : sign));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each, sign)]));
}

function reversed(value: unknown): unknown {
  return sorted(value, -1);
}

describe('definitions that nobody can accept', () => {
  const deep = `{"name":"deep","x":${'['.repeat(1_001)}${']'.repeat(1_001)}}`;
  test.each([
    ['a name that is listed twice', [write, write], 'tool "write" is listed twice'],
    [
      'a member that is given twice',
      ['{"name":"t","description":"a","description":"b"}'],
      'definition 2 has "description" twice',
    ],
    [
      'a member that is given twice, once with escapes',
      [String.raw`{"name":"t","n\u0061me":"u"}`],
      'definition 2 has "name" twice',
    ],
    [
      'a member that is given twice deep inside',
      ['{"name":"t","x":[{"a":1,"a":1}]}'],
      'definition 2 has "x[0].a" twice',
    ],
    ['no name', ['{"description":"x"}'], 'definition 2 has no name'],
    ['an empty name', ['{"name":""}'], 'definition 2 has no name'],
    ['a name that is no string', ['{"name":7}'], 'definition 2 has no name'],
    ['a list', ['[]'], 'definition 2 is not a JSON object'],
    ['no JSON', ['{'], 'definition 2 is not a JSON object'],
    ['deep nesting', [deep], 'definition 2 is nested too deeply'],
  ])('%s', async (_, bad, why) => {
    const { judge, report, acceptAll } = await open();
    const all = listing([read, ...bad]);
    for (const isAccepted of [false, true]) {
      if (isAccepted) await acceptAll(all);
      const judged = shown(await judge(all));
      expect(judged.allowed).toEqual([isAccepted ? read : withoutHints]);
      expect(judged.denied).toEqual(bad.map(() => why));
    }
    expect(await report(all)).toMatchObject({ waits: false, unusable: bad.map(() => why) });
  });
});

describe('accepting', () => {
  test('an acceptance counts for exactly the definitions that were shown', async () => {
    const { judge, report, accept, store } = await open();
    const before = await report(listing([read]));
    const changed = listing([read.replace('Reads', 'Sends')]);
    const failed = { code: 'DEFINITION_UNACCEPTED', hint: 'Read them again with `signalbox mcp pin files`.' };
    await expect(accept(changed, { by: 'ada', digest: before.digest })).rejects.toMatchObject(failed);
    expect(await store.findPin('files')).toMatchObject({ acceptedBy: null });
    expect(shown(await judge(changed)).allowed).toEqual([]);
  });

  test('of two people who accept different definitions at once, one learns of the other', async () => {
    const store = await openStore();
    const [one, two] = [await open({ store }), await open({ store })];
    const [mine, yours] = [listing([read]), listing([write])];
    await one.judge(listing([]));
    const reports = [await one.report(mine), await two.report(yours)] as const;
    const outcomes = await Promise.allSettled([
      one.accept(mine, { by: 'ada', digest: reports[0].digest, pinned: reports[0].pinned_digest }),
      two.accept(yours, { by: 'bo', digest: reports[1].digest, pinned: reports[1].pinned_digest }),
    ]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const later = { by: 'bo', digest: reports[1].digest, pinned: reports[1].pinned_digest };
    await expect(two.accept(yours, later)).rejects.toMatchObject({ code: 'DEFINITION_UNACCEPTED' });
    expect(await store.findPin('files')).toMatchObject({ acceptedBy: 'ada' });
  });

  test('a person has a name', async () => {
    const { report, accept } = await open();
    const { digest } = await report(listing([read]));
    await expect(accept(listing([read]), { by: ' ', digest })).rejects.toMatchObject({ code: 'USAGE' });
  });

  test('a report has every item that a person has not accepted, and its digest is that of the canonical text', async () => {
    const { judge, report, acceptAll } = await open();
    await judge(listing([read, write], 'Hi.'));
    expect(
      (await report(listing([read, write], 'Hi.'))).changes.map(({ item, change }) => [item, change]),
    ).toEqual([
      ['instructions', 'unaccepted'],
      ['tool:read', 'unaccepted'],
      ['tool:write', 'unaccepted'],
    ]);
    await acceptAll(listing([read, write], 'Hi.'));
    const [put, changed] = [write.replace('write', 'put'), read.replace('Reads', 'Sends')];
    const texts = [
      '"tool:put":{"inputSchema":{"type":"object"},"name":"put"}',
      '"tool:read":{"annotations":{"readOnlyHint":true},"description":"Reads a file.","inputSchema":{},"name":"read"}',
      '"tool:read":{"annotations":{"readOnlyHint":true},"description":"Sends a file.","inputSchema":{},"name":"read"}',
      '"tool:write":{"inputSchema":{"type":"object"},"name":"write"}',
    ];
    const { changes, ...rest } = await report(listing([put, changed], 'Hi.'));
    expect(rest).toEqual({
      server: 'files',
      digest: sha256(`{"instructions":"Hi.",${texts[0]},${texts[2]}}`),
      pinned_digest: sha256(`{"instructions":"Hi.",${texts[1]},${texts[3]}}`),
      waits: true,
      accepted_by: 'ada',
      accepted_at: expect.stringMatching(/^\d{4}-/),
      first_seen_at: expect.stringMatching(/^\d{4}-/),
      unusable: [],
    });
    expect(changes.map(({ item, change, pinned, sent }) => [item, change, pinned?.text, sent?.text])).toEqual(
      [
        ['tool:put', 'new', undefined, '{"inputSchema":{"type":"object"},"name":"put"}'],
        [
          ...['tool:read', 'changed'],
          '{"annotations":{"readOnlyHint":true},"description":"Reads a file.","inputSchema":{},"name":"read"}',
          '{"annotations":{"readOnlyHint":true},"description":"Sends a file.","inputSchema":{},"name":"read"}',
        ],
        ['tool:write', 'removed', '{"inputSchema":{"type":"object"},"name":"write"}', undefined],
      ],
    );
  });
});

function sha256(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

test('ten thousand tools and a description of 5 MB are pinned whole', async () => {
  const { judge, acceptAll, warnings } = await open();
  const tools = Array.from({ length: 10_000 }, (_, place) => `{"name":"t${place}","inputSchema":{}}`);
  const long = `{"name":"long","description":"${'x'.repeat(5_000_000)}"}`;
  await judge(listing([...tools, long]));
  await acceptAll(listing([...tools, long]));
  expect(shown(await judge(listing([...tools, long]))).denied).toEqual([]);
  const changed = [...tools.map((text) => text.replace('{}', '[]')), long.replace('xx"', 'xy"')];
  expect(shown(await judge(listing(changed))).allowed).toEqual([]);
  expect(warnings().at(-1)).toMatch(/^MCP server "files": 10001 tools denied .*; and 9991 more$/);
});
