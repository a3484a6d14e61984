import fc from 'fast-check';
import { expect, describe as group, it } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import type { ChatMessage } from '../../../src/contract/provider.ts';
import type { WireRules } from '../../../src/gateway/wire/codec.ts';
import { bodySpot, Edits, openPlace } from '../../../src/gateway/wire/place.ts';
import { type RewriteOptions, rewrite } from '../../../src/gateway/wire/rewrite.ts';
import { describe, Seen } from '../../../src/gateway/wire/seen.ts';
import { all, type Shape, words } from '../../../src/gateway/wire/shape.ts';
import { walk } from '../../../src/gateway/wire/walk.ts';
import { media, strict } from './chat/rules.ts';

function see(value: unknown, shape: Shape, rules: WireRules = strict, isAnswer = true): Seen {
  const place = openPlace(typeof value === 'string' ? value : JSON.stringify(value));
  const seen = new Seen(place);
  walk(bodySpot(place), shape, { rules, isAnswer, at: '' }, seen);
  return seen;
}

const told = (seen: Seen) => describe(seen, 'assistant');
const other = (value: unknown, shape: Shape) => see(value, shape).other.json?.text;
const refused = (status: number, code: string) =>
  expect.objectContaining({ refusal: expect.objectContaining({ status, code }) });
const unwritable = expect.objectContaining({ code: 'REPLY_MALFORMED' });

function write(
  value: unknown,
  shape: Shape,
  change: (message: ChatMessage) => ChatMessage,
  options: Partial<RewriteOptions> = {},
  rules: WireRules = media,
): string {
  const seen = see(value, shape, rules);
  const edits = new Edits(seen.place.source);
  const sent = told(seen);
  rewrite(seen, sent, change(sent), edits, { isAnswer: true, ...options });
  return edits.apply();
}

const sealed = Buffer.from([0xff, 0xfe, 0xfd, ...Array.from({ length: 30 }, (_, at) => 128 + at)]).toString(
  'base64',
);

group('a leaf', () => {
  const leaves: Shape = {
    members: {
      id: 'id',
      count: 'number',
      at: 'date',
      key: 'sealed',
      pad: 'padding',
      nothing: 'none',
      kind: words('a', 'b'),
      copy: { emptied: '[]' },
      said: 'other',
    },
  };

  it('of its form is not shown to hooks', () => {
    const value = {
      id: 'chatcmpl-1',
      count: 1.5,
      at: '2026-11-23T10:00:00Z',
      key: sealed,
      pad: 'aZ09',
      nothing: null,
      kind: 'b',
      copy: [],
    };
    expect(see(value, leaves).isEmpty).toBe(true);
    expect(see({ ...value, count: true, key: '', id: '', pad: '' }, leaves).isEmpty).toBe(true);
    expect(see(Object.fromEntries(Object.keys(value).map((key) => [key, null])), leaves).isEmpty).toBe(true);
  });

  it('has its exact digits and bytes', () => {
    expect(other('{"x": {"a" : 1.00, "b":"\\u0041"}}', leaves)).toBe('{"x":{"a" : 1.00, "b":"\\u0041"}}');
  });
});

group('a composed value', () => {
  it('is judged by its path, element by element', () => {
    const shape: Shape = {
      members: { list: { items: { members: { ...all('number', 'a', 'b'), c: 'id' } } } },
    };
    expect(other({ list: [{ a: 1, b: 2, c: 'x' }, { a: 'secret' }, { d: 1 }, 'text'] }, shape)).toBe(
      '{"list[1].a":"secret","list[2].d":1,"list[3]":"text"}',
    );
    expect(other({ list: 'text' }, shape)).toBe('{"list":"text"}');
    expect(other('["text"]', shape)).toBe('{"":["text"]}');
  });

  it('shows keys that look like the path of another', () => {
    const shape: Shape = { members: { a: { members: {} } } };
    expect(other({ a: { b: 'x' }, 'a.b': 'y' }, shape)).toBe(`{"a.b":"x","a.b'":"y"}`);
  });

  const content: Shape = {
    string: { show: 'text' },
    array: {
      items: {
        kinds: {
          text: { show: 'text', text: 'text', of: { cache: 'number' } },
          thinking: { show: 'reasoning', text: 'thinking', of: { signature: 'sealed' }, isSigned: true },
          plain: { members: { note: 'other' } },
        },
        implied: [['role', 'plain']],
      },
      newText: { type: 'text' },
    },
  };

  it('is read by its JSON type, and refused with another', () => {
    expect(told(see('"hello"', content))).toEqual({ role: 'assistant', content: 'hello' });
    expect(() => see('7', content)).toThrow(refused(502, 'upstream_invalid'));
    expect(() => see({ type: 'text' }, content, strict, false)).toThrow(refused(400, 'invalid_request'));
  });

  it('is read by its kind; an unknown kind is refused by name unless it is opaque', () => {
    expect(
      told(
        see(
          [
            { type: 'text', text: 'a', cache: 1 },
            { type: 'text', text: 'b', note: 'n' },
            { type: 'thinking', thinking: 'hm', signature: sealed },
            { role: 'x', note: 'y' },
          ],
          content,
        ),
      ),
    ).toEqual({
      role: 'assistant',
      content: 'ab',
      parts: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      reasoning: 'hm',
      other: new Json('{"[1].note":"n","[3].role":"x","[3].note":"y"}'),
    });
    for (const item of [null, 'text', {}, { type: null }, { type: ['text'] }, { type: 'toString' }])
      expect(() => see([item], content)).toThrow(refused(502, 'unknown_content'));
    expect(() => see([{ type: 'thing' }], content, strict, false)).toThrow(/\("thing"\)/);
    const opaque = { ...strict, opaque: new Set(['thing']) };
    expect(told(see([{ type: 'thing', x: 1 }], content, opaque))).toMatchObject({
      parts: [{ type: 'thing' }],
    });
    for (const type of ['image', 'audio', 'video', 'file'])
      expect(() => see([{ type, text: 'secret' }], content, media)).toThrow(refused(502, 'unknown_content'));
    expect(() => see([{ type: 'text', text: ['x'] }], content)).toThrow(refused(502, 'upstream_invalid'));
  });

  it('may be a list of messages, each shown separately', () => {
    const shape: Shape = {
      members: {
        choices: { each: { members: { message: { members: { content }, as: '' } } }, as: 'choice' },
      },
    };
    const seen = see(
      { choices: [{ message: { content: 'a', x: 1 }, y: 2 }, { message: { content: 'b' } }] },
      shape,
    );
    expect(seen.messages.map(told)).toEqual([
      { role: 'assistant', content: 'a', other: new Json('{"x":1,"choice.y":2}') },
      { role: 'assistant', content: 'b' },
    ]);
    expect(() => see({ choices: [{ message: { content: 7 } }] }, shape)).toThrow(/choices\[0\]/);
  });
});

const call: Shape = {
  kinds: {
    function: {
      show: 'call',
      id: 'id',
      in: 'function',
      name: 'name',
      args: 'arguments',
      of: { index: 'number' },
    },
    shell: {
      show: 'call',
      id: ['call_id', 'id'],
      name: { is: 'shell' },
      args: ['action', 'env'],
      of: { id: 'id' },
    },
    search: {
      show: 'call',
      id: 'id',
      name: { is: 'search' },
      args: ['queries'],
      isServed: true,
      result: {
        content: 'results',
        shape: { items: { members: { text: { show: 'text' }, score: 'number' } } },
      },
    },
  },
};
const message: Shape = {
  members: {
    role: words('assistant'),
    content: {
      string: { show: 'text' },
      array: {
        items: {
          kinds: {
            text: {
              show: 'text',
              text: 'text',
              of: { citations: { items: { show: 'citation', type: 'url', tell: ['url', 'title'] } } },
            },
            image: {
              show: 'media',
              media: 'image',
              in: 'source',
              url: ['url'],
              bytes: ['data'],
              isOf: 'image/*',
            },
            result: { show: 'result', id: 'of', content: 'content', isError: 'failed' },
          },
        },
        newText: { type: 'text' },
      },
    },
    reasoning: { show: 'reasoning' },
    reasoning_content: { show: 'reasoning', isTwin: true },
    refusal: { show: 'refusal' },
    calls: { items: call },
    finish: { show: 'finish', words: { stop: 'stop', tool_calls: 'tool_use' } },
    logprobs: { emptied: 'null' },
  },
};

const sample = {
  role: 'assistant',
  content: [
    { type: 'text', text: 'one ', citations: [{ url: 'https://a', title: 'T', note: 'n' }] },
    { type: 'image', source: { url: 'https://b/c.png' } },
    { type: 'text', text: 'two' },
    { type: 'result', of: 's1', content: [{ a: 1.5 }], failed: false },
  ],
  reasoning: 'why',
  reasoning_content: 'why',
  refusal: 'no',
  calls: [
    { type: 'function', id: 'c1', index: 0, function: { name: 'f', arguments: '{"a":1}' } },
    { type: 'shell', call_id: 'c2', action: { commands: ['ls'] } },
    { type: 'search', id: 's1', queries: ['q'], results: [{ text: 'found', score: 0.5 }] },
  ],
  finish: 'tool_calls',
  logprobs: { content: [{ token: 'one', bytes: [111] }] },
};

group('a list of blocks', () => {
  const block: Shape = {
    kinds: {
      text: {
        show: 'text',
        text: 'text',
        of: { citations: { array: { items: { show: 'citation', emptied: 'null' } } } },
      },
      thinking: { show: 'reasoning', text: 'thinking', isSigned: true, of: { signature: 'sealed' } },
      result: { members: { of: { link: 'id' }, content: { string: { show: 'text' } } } },
      summary: { members: { content: 'other', copy: { sealedCopyOf: { member: 'content' } } } },
      page: {
        kinds: {
          text: { show: 'text', as: 'document', in: 'source', text: 'data', of: { type: words('page') } },
          file: { show: 'media', media: 'file', in: 'source', bytes: ['data'], isOf: 'application/pdf' },
        },
        in: 'source',
      },
      found: {
        show: 'result',
        id: 'id',
        content: 'content',
        bytes: { type: 'base64', data: 'data', mediaType: 'media_type' },
      },
    },
  };
  const apart: Shape = {
    members: { content: { array: { items: block, newText: { type: 'text' }, apart: 'result' } } },
  };
  const text = (said: string, more = {}) => ({ type: 'text', text: said, ...more });
  const result = (id: string, content: string) => ({ type: 'result', of: id, content });

  it('has elements that are separate messages, and what lies between them is one too', () => {
    const kinds = fc.constantFrom('text', 'result');
    fc.assert(
      fc.property(fc.array(kinds, { maxLength: 12 }), (list) => {
        const blocks = list.map((kind, at) =>
          kind === 'text' ? text(`t${at}`) : result(`r${at}`, `t${at}`),
        );
        const { messages } = see({ content: blocks }, apart);
        const runs = list
          .join(' ')
          .replaceAll(/text( text)*/g, 'texts')
          .split(' ')
          .filter(Boolean);
        expect(messages.map(({ links }) => (links.size > 0 ? 'result' : 'texts'))).toEqual(runs);
        expect(messages.map((each) => told(each).content).join('')).toBe(
          list.map((_, at) => `t${at}`).join(''),
        );
        expect(messages.flatMap(({ span }) => [span?.start, span?.end])).toEqual(
          messages.flatMap(({ span }, at) => [messages[at - 1]?.span?.end ?? 0, span?.end]),
        );
      }),
    );
  });

  it('gives paths relative to a separate message, and names its place in errors', () => {
    const content = [text('a', { note: 1 }), { ...result('r', 'b'), note: 2 }];
    expect(see({ content }, apart).messages.map(({ other: rest }) => rest.json?.text)).toEqual([
      '{"content[0].note":1}',
      '{"note":2}',
    ]);
    expect(() => see({ content: [text('a'), { ...result('r', 'b'), of: 7 }] }, apart)).toThrow(
      /content\[1\]/,
    );
  });

  it('has kinds that a member selects', () => {
    const page = (source: unknown) => ({ type: 'page', source });
    const read = see([page({ type: 'text', data: 'hi', mood: 1 })], { items: block });
    expect(told(read)).toMatchObject({ content: 'hi', parts: [{ type: 'document', text: 'hi' }] });
    expect(read.other.json?.text).toBe('{"[0].source.type":"text","[0].source.mood":1}');
    expect(() => see([page({ type: 'odd' })], { items: block })).toThrow(refused(502, 'unknown_content'));
    expect(() => see([page('odd')], { items: block })).toThrow(refused(502, 'upstream_invalid'));
    expect(() => see([page({ type: 'file', data: 'AAAA' })], { items: block })).toThrow(
      refused(502, 'unknown_content'),
    );
  });

  it('refuses bytes anywhere in a result that is shown whole', () => {
    const file = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
    fc.assert(
      fc.property(fc.array(fc.constantFrom('list', 'object'), { maxLength: 5 }), (path) => {
        const content = path.reduce<unknown>(
          (inner, kind) => (kind === 'list' ? [1, inner] : { a: null, b: inner }),
          file,
        );
        const found = [{ type: 'found', id: 'f', content }];
        expect(() => see(found, { items: block })).toThrow(refused(502, 'unknown_content'));
        expect(told(see(found, { items: block }, media))['tool_results']).toHaveLength(1);
      }),
    );
  });

  const items: Shape = { items: block, newText: { type: 'text', text: '', citations: null } };
  const changed = (value: unknown, change: (message: ChatMessage) => ChatMessage): unknown =>
    JSON.parse(write(value, items, change, { dropsEmpty: true }));

  it('loses the citations that a hook does not repeat, and has null where all are gone', () => {
    const cited = [text('a', { citations: [{ url: 'x' }, { url: 'y' }] })];
    const keep = (list: unknown) => changed(cited, (message) => ({ ...message, citations: list }));
    expect(keep(undefined)).toEqual([text('a', { citations: null })]);
    expect(keep([{ url: 'y' }])).toEqual([text('a', { citations: [{ url: 'y' }] })]);
    expect(() => keep([{ url: 'z' }])).toThrow(unwritable);
  });

  it('loses an encrypted copy only when its text changes', () => {
    const summary = [{ type: 'summary', content: 'said', copy: sealed }];
    const put = (rest: unknown) => changed(summary, (message) => ({ ...message, other: rest }));
    expect(put({ '[0].content': 'said' })).toEqual(summary);
    expect(put({ '[0].content': 'gone' })).toEqual([{ type: 'summary', content: 'gone' }]);
    expect(put(undefined)).toEqual([{ type: 'summary' }]);
    expect(other([{ type: 'summary', content: null, copy: 'secret' }], items)).toBe(
      '{"[0].content":null,"[0].copy":"secret"}',
    );
  });

  it('has a new text after its first reasoning', () => {
    const thought = { type: 'thinking', thinking: 'hm', signature: sealed };
    const page = { type: 'page', source: { type: 'text', data: 'x' } };
    expect(changed([thought], (message) => ({ ...message, content: 'new' }))).toEqual([
      thought,
      text('new', { citations: null }),
    ]);
    expect(
      changed([thought, page], ({ parts: _, ...message }) => ({
        ...message,
        role: 'assistant',
        content: 'new',
      })),
    ).toEqual([thought, text('new', { citations: null })]);
  });

  it('reports what is left of signed reasoning', () => {
    const value = ['one ', 'two'].map((thinking) => ({ type: 'thinking', thinking, signature: sealed }));
    const seen = see(value, items);
    const sent = told(seen);
    const edits = new Edits(seen.place.source);
    const wanted = rewrite(seen, sent, { ...sent, reasoning: 'one 2' }, edits, { isAnswer: true });
    expect(wanted['reasoning']).toBe('one ');
    expect(JSON.parse(edits.apply())).toEqual(value.slice(0, 1));
  });

  it('ends with a stop reason of the API or with none', () => {
    const shape: Shape = {
      members: { end: { show: 'finish', words: { done: 'stop', no: 'refusal' }, aliases: { safety: 'no' } } },
    };
    const ended = (reason: string) =>
      write({ end: 'done' }, shape, (message) => ({ ...message, finish_reason: reason }));
    expect(ended('safety')).toBe('{"end":"no"}');
    expect(ended('refusal')).toBe('{"end":"no"}');
    expect(() => ended('bored')).toThrow(unwritable);
  });
});

group('what hooks see', () => {
  it('has every facet', () => {
    expect(told(see(sample, message, media))).toEqual({
      role: 'assistant',
      content: 'one two',
      parts: [
        { type: 'text', text: 'one ' },
        { type: 'image', media: { mime_type: 'image/*', url: 'https://b/c.png' } },
        { type: 'text', text: 'two' },
      ],
      reasoning: 'why',
      refusal: 'no',
      finish_reason: 'tool_use',
      citations: [{ type: 'url', url: 'https://a', title: 'T' }],
      tool_calls: [
        { id: 'c1', name: 'f', args: new Json('{"a":1}') },
        { id: 'c2', name: 'shell', args: new Json('{"action":{"commands":["ls"]}}') },
        { id: 's1', name: 'search', args: new Json('{"queries":["q"]}') },
      ],
      tool_results: [
        { id: 's1', name: 'search', content: '[{"a":1.5}]' },
        { id: 's1', name: 'search', content: 'found' },
      ],
      other: new Json(
        '{"content[0].citations[0].note":"n","logprobs":{"content":[{"token":"one","bytes":[111]}]}}',
      ),
    });
  });

  it('has no call for a result without one, and lists the files of a result among its parts', () => {
    const shape: Shape = {
      show: 'call',
      id: 'id',
      name: { is: 'code' },
      args: ['code'],
      result: {
        content: 'outputs',
        shape: { items: { show: 'media', media: 'image', url: ['url'], isOf: 'image/*' } },
      },
    };
    const made = { id: 'c1', code: 'x' };
    expect(told(see({ ...made, outputs: null }, shape))['tool_results']).toBeUndefined();
    expect(told(see({ ...made, outputs: [{ url: 'https://a' }] }, shape, media))['parts']).toEqual([
      { type: 'image', media: { mime_type: 'image/*', url: 'https://a' } },
    ]);
  });

  it('has no text in bytes that `opaque` lists and that are base64', () => {
    const shape: Shape = { members: { type: 'id', result: { bytes: 'image' } } };
    expect(see({ result: null }, shape).isEmpty).toBe(true);
    expect(see({ result: 'AAAA' }, shape, media).isEmpty).toBe(true);
    const own = { ...strict, opaque: new Set(['drawn']) };
    expect(see({ type: 'drawn', result: 'AAAA' }, shape, own).isEmpty).toBe(true);
    expect(() => see({ result: 'AAAA' }, shape)).toThrow(refused(502, 'unknown_content'));
    for (const result of ['the secret', ['AAAA'], { a: 'AAAA' }, 7])
      expect(() => see({ result }, shape, media)).toThrow(refused(502, 'upstream_invalid'));
  });
});

group('a changed message', () => {
  const change = (more: object) => write(sample, message, (sent) => ({ ...sent, ...more }));

  it('is the same bytes when only its copies differ', () => {
    const source = '{ "content" : "\\u0041", "x": 1.00 }';
    expect(write(source, message, (sent) => sent)).toBe(source);
  });

  it('has new texts in their places, and the same text under two names twice', () => {
    expect(JSON.parse(change({ reasoning: 'because', refusal: '' }))).toEqual({
      ...sample,
      reasoning: 'because',
      reasoning_content: 'because',
      refusal: null,
      logprobs: null,
    });
    const { reasoning: _, reasoning_content: __, ...rest } = sample;
    expect(JSON.parse(change({ reasoning: '' }))).toEqual({ ...rest, logprobs: null });
  });

  it('loses what a hook does not repeat', () => {
    expect(JSON.parse(write(sample, message, () => ({ role: 'assistant', content: 'new' })))).toEqual({
      role: 'assistant',
      content: [
        { type: 'text', text: 'new', citations: [] },
        { type: 'text', text: '' },
      ],
      refusal: null,
      calls: [],
      finish: 'stop',
      logprobs: null,
    });
  });

  it.each<[string, unknown]>([
    ['bytes', { bytes: [77, 97] }],
    ['token ids', [1, 2, 3]],
    ['base64 of a text', { data: Buffer.from('Maria').toString('base64') }],
    ['hexadecimal of a text', Buffer.from('Maria Schmidt').toString('hex')],
    ['something encrypted', sealed],
  ])('drops %s when the text changes, even if the hook repeats it', (_what, copy) => {
    const body = JSON.stringify({ content: 'Maria', copy, plain: 'a word' });
    expect(write(body, message, (sent) => ({ ...sent, content: 'X' }))).toBe(
      '{"content":"X", "plain":"a word"}'.replace(', ', ','),
    );
  });

  it('has changed arguments, names and results in their places', () => {
    const [first, shell, search] = sample.calls;
    const calls = [
      { id: 'c1', name: 'g', args: { b: 2 } },
      { id: 'c2', name: 'shell', args: { action: 'x' } },
      { id: 's1', name: 'search', args: { queries: ['q'] } },
    ];
    const results = [
      { id: 's1', name: 'search', content: '[{"a":2}]' },
      { id: 's1', name: 'search', content: 'gone' },
    ];
    const written = JSON.parse(change({ tool_calls: calls, tool_results: results }));
    expect(written.calls).toEqual([
      { ...first, function: { name: 'g', arguments: '{"b":2}' } },
      { ...shell, action: 'x' },
      { ...search, results: [{ text: 'gone', score: 0.5 }] },
    ]);
    expect(written.content[3].content).toEqual([{ a: 2 }]);
  });

  it('keeps a signed text unchanged, or loses its entry', () => {
    const signed: Shape = {
      members: {
        content: {
          items: {
            kinds: {
              thinking: { show: 'reasoning', text: 'thinking', isSigned: true },
              sealed: { show: 'sealed', data: 'data' },
            },
          },
        },
      },
    };
    const body = {
      content: [
        { type: 'thinking', thinking: 'a ' },
        { type: 'sealed', data: sealed },
        { type: 'thinking', thinking: 'b' },
      ],
    };
    const reason = (reasoning: string) =>
      JSON.parse(write(body, signed, (sent) => ({ ...sent, reasoning }))).content.map(
        (block: { type: string; thinking?: string }) => block.thinking ?? block.type,
      );
    expect(reason('a c')).toEqual(['a ', 'sealed']);
    expect(reason('')).toEqual([]);
  });

  it.each<[string, object]>([
    ['another role', { role: 'user' }],
    ['no content', { content: undefined }],
    ['a member of its own', { thoughts: 'x' }],
    ['a new file', { parts: [{ type: 'image', media: {} }] }],
    ['a new call', { tool_calls: [{ id: 'new', name: 'f', args: {} }] }],
    ['a new citation', { citations: [{ url: 'x' }, { url: 'y' }] }],
    ['two contents', { parts: [{ type: 'text', text: 'x' }], content: 'y' }],
    ['a new member of the rest', { other: { new: 'x' } }],
  ])('is denied with %s', (_what, more) => {
    expect(() => change(more)).toThrow(unwritable);
  });
});
