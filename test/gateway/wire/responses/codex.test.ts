import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../../../src/base/json/json.ts';
import type { WireRules } from '../../../../src/gateway/wire/codec.ts';
import { responsesCodec } from '../../../../src/gateway/wire/codecs.ts';
import { isCodex } from '../../../../src/gateway/wire/responses/request.ts';
import { codexHeaders, codexRequest } from './codex-samples.ts';
import { textAnswer } from './samples.ts';
import { eventsOf, streamOf } from './streamed.ts';

const rules: WireRules = { opaque: new Set(), references: new Set(), redactsEmbeddings: false };
const body = JSON.stringify(codexRequest);
const request = responsesCodec.readRequest(body, rules, codexHeaders);

function openWriter(headers = codexHeaders) {
  const writer = responsesCodec.stream?.writer(responsesCodec.readRequest(body, rules, headers));
  if (writer === undefined) throw new Error('no streams');
  return writer;
}

/** As Codex reads a stream: only the `type` of the data counts, and only `response.completed` ends it. */
function readAsCodex(stream: string) {
  const added = new Set<number>();
  const seen = {
    text: '',
    items: [] as { type: string }[],
    completed: undefined as string | undefined,
    failed: undefined as string | undefined,
  };
  for (const { data } of eventsOf(stream)) {
    if (data === undefined) continue;
    const event = JSON.parse(data);
    if (event.type === 'response.output_item.added') added.add(event.output_index);
    if (event.type === 'response.output_text.delta') {
      expect(added.has(event.output_index)).toBe(true);
      seen.text += event.delta;
    }
    if (event.type === 'response.output_item.done') seen.items.push(event.item);
    if (event.type === 'response.completed') seen.completed = event.response.id;
    if (event.type === 'response.failed') seen.failed = event.response.error.code;
  }
  return seen;
}

describe('Codex', () => {
  it.each([
    [{ originator: 'codex_cli_rs' }, true],
    [{ originator: 'Codex Desktop' }, true],
    [{ 'user-agent': 'codex_exec/0.98.0 (Debian 12.0.0; x86_64)' }, true],
    [{ 'user-agent': 'OpenAI/JS 7.57.0' }, false],
    [{}, false],
  ])('is recognised by %j: %s', (headers, isKnown) => {
    expect(isCodex(headers)).toBe(isKnown);
  });

  it('sends requests that are read and written unchanged', () => {
    expect(request.write(request.payload, request.model)).toBe(body);
    expect(request.payload.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'user',
      'assistant',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
      'assistant',
      'assistant',
      'user',
    ]);
    expect(request.payload.round).toBe(1);
    expect(request.toolResults.map(({ call, content }) => [call?.name, content])).toEqual([
      ['shell_command', '{"output":"README.md\\n","metadata":{"exit_code":0,"duration_seconds":0.1}}'],
      ['apply_patch', 'Success. Updated the following files:\nM README.md\n'],
      ['local_shell', 'total 0\n'],
      ['view_image', 'nothing there'],
    ]);
    const other = stringifyJson(request.payload.other);
    for (const text of [
      'x-codex-turn-metadata',
      'codex_output_schema',
      'Runs a shell command',
      'all_turns',
      codexRequest.prompt_cache_key,
    ])
      expect(other).toContain(text);
  });

  it('receives what the model says', () => {
    expect(readAsCodex(streamOf(textAnswer('All done.')))).toMatchObject({
      text: 'All done.',
      completed: 'resp_1',
    });
    expect(readAsCodex(openWriter().finish(JSON.stringify(textAnswer('All done.'))))).toMatchObject({
      text: 'All done.',
      items: [{ type: 'message' }],
      completed: 'resp_1',
    });
  });

  it('gets a refusal as a completed response, and other clients get the native one', () => {
    const refusal = responsesCodec.substitute?.({ text: 'Not that.', end: 'refused' }, 'gpt-5') ?? '';
    const forCodex = readAsCodex(openWriter().finish(refusal));
    expect(forCodex).toMatchObject({ text: 'Not that.', items: [{ type: 'message' }] });
    expect(forCodex.completed).toMatch(/^resp_/);
    const native = openWriter({}).finish(refusal);
    expect(readAsCodex(native).completed).toBeUndefined();
    expect(native).toContain('event: response.incomplete');
  });

  it('gets a denial in mid-stream as an error that it does not retry', () => {
    const refusal = { status: 400, code: 'content_filter', message: 'No.', isRetryable: false };
    expect(readAsCodex(openWriter().fail(refusal)).failed).toBe('invalid_prompt');
    expect(
      readAsCodex(openWriter().fail({ ...refusal, status: 502, isRetryable: true })).failed,
    ).toBeUndefined();
    expect(readAsCodex(openWriter({}).fail(refusal)).failed).toBeUndefined();
  });

  it('is kept awake by events that it parses', () => {
    const writer = openWriter();
    const [created] = eventsOf(streamOf(textAnswer('x')));
    if (created === undefined) throw new Error('no event');
    writer.verbatim(created);
    const [wait] = eventsOf(writer.wait());
    expect(JSON.parse(wait?.data ?? '').type).toBe('response.in_progress');
  });
});
