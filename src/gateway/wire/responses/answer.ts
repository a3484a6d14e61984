import type { ChatMessage } from '../../../contract/provider.ts';
import { isObject, Json } from '../../../json/json.ts';
import { exactMembers } from '../../../json/scan.ts';
import type { AnswerToolCall, TokenUsage, WireAnswer, WireRequest, WireRules } from '../codec.ts';
import { Edits } from '../edits.ts';
import { invalidAnswer, unknownInAnswer, unwritable } from '../faults.ts';
import { openPlace, type Place } from '../place.ts';
import { isPlainId } from '../plain-id.ts';
import { isSameMessage, requireTold } from '../replaced-messages.ts';
import { openStrictly } from '../strict-json.ts';
import { describe, joinTexts } from './describe.ts';
import { isEchoed } from './echo.ts';
import { Facets } from './facets.ts';
import { isQuiet } from './quiet.ts';
import { readItem } from './read-item.ts';
import type { Reading } from './reading.ts';
import { ResponsesRequest } from './request.ts';
import { rewriteFacets } from './rewrite.ts';

/** What a stream tells that its answer does not have, by names for hooks. */
export type Extras = ReadonlyMap<string, Json>;

/** Reads a response, as the API gives it unstreamed. Throws RefusedCall (502). */
export function readAnswer(
  body: string,
  rules: WireRules,
  request: WireRequest,
  extras: Extras = new Map(),
): ResponsesAnswer {
  const root = openStrictly(body, (problem) => invalidAnswer(`it ${problem}`));
  if (root.kind !== 'object') throw invalidAnswer('it is not an object');
  return new ResponsesAnswer(root, { rules, sent: sentBody(request), extras });
}

/** What the upstream was asked; undefined for a request of another kind. */
export function sentBody(request: WireRequest): Place | undefined {
  return request instanceof ResponsesRequest ? request.sent : undefined;
}

interface AnswerReading {
  readonly rules: WireRules;
  readonly sent: Place | undefined;
  readonly extras: Extras;
}

/** A response; all of its items are one message. */
class ResponsesAnswer implements WireAnswer {
  readonly body: string;
  readonly messages: readonly [ChatMessage];
  readonly usage: TokenUsage | undefined;
  readonly toolCalls: readonly AnswerToolCall[];
  readonly #root: Place;
  readonly #facets = new Facets();
  readonly #reading: AnswerReading;

  constructor(root: Place, reading: AnswerReading) {
    const { rules, sent } = reading;
    this.#reading = reading;
    this.body = root.source;
    this.#root = root;
    const output = outputOf(root);
    for (const [entry, place] of (output?.items ?? []).entries()) {
      if (output === undefined) continue;
      readItem({ place, owner: output, entry, path: `output[${entry}]` }, this.#facets, answerReading(rules));
    }
    for (const [key, place] of root.members) {
      if (key === 'output' || this.#isTold(key, place) || isEchoed(key, place, sent)) continue;
      this.#facets.leftovers.add(key, { place, owner: root, entry: key });
    }
    this.usage = readUsage(root.at('usage'));
    this.messages = [describe({ role: 'assistant' }, this.#facets, { ...this.#told(), ...this.#facts() })];
    this.toolCalls = this.#facets.calls.flatMap(({ isOfClient, id, name, args }, index) =>
      isOfClient ? [{ callId: id, name, args, choice: 0, index }] : [],
    );
  }

  write([changed, ...others]: readonly ChatMessage[]): string {
    if (changed === undefined || others.length > 0) throw unwritable('an answer has one message');
    if (changed === this.messages[0]) return this.body;
    const edits = new Edits(this.body);
    const wanted = this.#withoutExtras(changed);
    const { text } = rewriteFacets(this.#facets, this.messages[0], wanted, edits);
    if (text !== '') this.#addText(text, edits);
    const repeated = this.#root.at('output_text');
    if (repeated?.kind === 'string' && changed.content !== this.messages[0].content)
      edits.replaceText(repeated, changed.content);
    const written = edits.apply();
    this.#check(written, wanted);
    // Only what the body does not have was changed: it is another answer all the same, to be streamed without that.
    return written === this.body && !isSameMessage(this.messages[0], changed) ? `${written}\n` : written;
  }

  /** What hooks made of the body's own members; those of the stream alone are never written. */
  #withoutExtras(changed: ChatMessage): ChatMessage {
    const { other } = changed;
    if (this.#reading.extras.size === 0 || !isObject(Json.from(other).value)) return changed;
    const members = [...exactMembers(Json.from(other))].filter(([name]) => !this.#reading.extras.has(name));
    return { ...changed, other: members.length === 0 ? undefined : Json.from(Object.fromEntries(members)) };
  }

  /** Throws REPLY_MALFORMED when the written body tells something else than the hooks want. */
  #check(written: string, wanted: ChatMessage): void {
    const read = new ResponsesAnswer(openPlace(written), { ...this.#reading, extras: new Map() });
    requireTold(read.messages, [wanted]);
  }

  #isTold(key: string, place: Place): boolean {
    if (key === 'model') return place.text !== undefined && isPlainId(place.text);
    if (key === 'output_text' && place.text === joinTexts(this.#facets.body.filter(isText))) return true;
    return isQuiet(key, place);
  }

  /** `other` with what the stream tells alone. */
  #told(): { readonly other?: Json } {
    const { json } = this.#facets.leftovers;
    if (this.#reading.extras.size === 0) return {};
    const members = json === undefined ? [] : [...exactMembers(json)];
    return { other: Json.from(Object.fromEntries([...members, ...this.#reading.extras])) };
  }

  #facts(): Readonly<Record<string, unknown>> {
    const { usage } = this;
    return {
      finish_reason: finishReasonOf(
        this.#root,
        this.#facets.calls.some(({ isOfClient }) => isOfClient),
      ),
      ...(usage !== undefined && {
        cost_info: { input_tokens: usage.input, output_tokens: usage.output },
      }),
    };
  }

  /** A message for a text that has no place yet, behind all items. */
  #addText(text: string, edits: Edits): void {
    const output = this.#root.at('output');
    if (output?.kind !== 'array') throw unwritable('a response without `output` cannot get a text');
    edits.insert(output, JSON.stringify(messageItem(`msg_${suffixOf(this.#root)}`, text)));
  }
}

function isText(facet: { readonly kind: string }): facet is Facets['refusals'][number] {
  return facet.kind === 'text';
}

/** A message of the model with one text. */
export function messageItem(id: string, text: string): Readonly<Record<string, unknown>> {
  const content = [{ type: 'output_text', annotations: [], logprobs: [], text }];
  return { id, type: 'message', status: 'completed', role: 'assistant', content };
}

function suffixOf(root: Place): string {
  return (root.at('id')?.text ?? '').replace(/^resp_/, '').replaceAll(/\W/g, '') || 'signalbox';
}

function outputOf(root: Place): Place | undefined {
  const output = root.at('output');
  if (output === undefined || output.kind === 'null') return undefined;
  if (output.kind !== 'array') throw invalidAnswer('`output` is not a list');
  return output;
}

/** Reads the items of an answer. */
function answerReading(rules: WireRules): Reading {
  return {
    rules,
    unknown: (_kind, path) => unknownInAnswer(path),
    reference: (path) => unknownInAnswer(path),
    malformed: (path) => invalidAnswer(`\`${path}\` is not what the API has there`),
    toolName: () => '',
  };
}

/** In the native words, as those of the other endpoints. */
function finishReasonOf(root: Place, hasCalls: boolean): string {
  const status = root.at('status')?.text ?? 'completed';
  switch (status) {
    case 'completed':
      return hasCalls ? 'tool_use' : 'stop';
    case 'failed':
      return 'error';
    case 'incomplete':
      return incompleteReasonOf(root);
    default:
      return status;
  }
}

function incompleteReasonOf(root: Place): string {
  const reason = root.at('incomplete_details')?.at('reason')?.text ?? 'incomplete';
  return reason === 'content_filter' ? 'safety' : reason;
}

function readUsage(usage: Place | undefined): TokenUsage | undefined {
  const input = countOf(usage, 'input_tokens');
  const output = countOf(usage, 'output_tokens');
  if (input === undefined || output === undefined) return undefined;
  const cachedInput = countOf(usage?.at('input_tokens_details'), 'cached_tokens');
  return { input, output, ...(cachedInput !== undefined && { cachedInput }) };
}

function countOf(object: Place | undefined, key: string): number | undefined {
  const value = object?.at(key)?.value;
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
