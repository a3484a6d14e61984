import type { ChatMessage } from '../../../contract/provider.ts';
import type { AnswerToolCall, TokenUsage, WireAnswer, WireRequest, WireRules } from '../codec.ts';
import { Edits } from '../edits.ts';
import { invalidAnswer, unwritable } from '../faults.ts';
import { bodySpot, memberSpot, openPlace, type Place } from '../place.ts';
import { isSameMessage, requireTold } from '../replaced-messages.ts';
import { rewrite } from '../rewrite.ts';
import { describe, describeCall, joinTexts, Seen } from '../seen.ts';
import { openStrictly } from '../strict-json.ts';
import { walk } from '../walk.ts';
import { isEchoed } from './echo.ts';
import { dropSealed, isServedByRequest, isShaped } from './items.ts';
import { ResponsesRequest } from './request.ts';
import { outputItem, responseMembers } from './shapes.ts';

/** Reads a response, as the API gives it unstreamed. Throws RefusedCall (502). */
export function readAnswer(body: string, rules: WireRules, request: WireRequest): WireAnswer {
  const root = openStrictly(body, (problem) => invalidAnswer(`it ${problem}`));
  if (root.kind !== 'object') throw invalidAnswer('it is not an object');
  return new ResponsesAnswer(root, { rules, sent: sentBody(request) });
}

/** What the upstream was asked; undefined for a request of another kind. */
export function sentBody(request: WireRequest): Place | undefined {
  return request instanceof ResponsesRequest ? request.sent : undefined;
}

interface AnswerReading {
  readonly rules: WireRules;
  readonly sent: Place | undefined;
}

/** Whether hooks need not see a member of a response beside its items: it is of its shape, or repeats the request. */
export function isSettled(key: string, place: Place, sent: Place | undefined): boolean {
  return isShaped(place, key, responseMembers) || isEchoed(key, place, sent);
}

/** A response; all of its items are one message. */
class ResponsesAnswer implements WireAnswer {
  readonly body: string;
  readonly messages: readonly [ChatMessage];
  readonly usage: TokenUsage | undefined;
  readonly toolCalls: readonly AnswerToolCall[];
  readonly #root: Place;
  readonly #seen: Seen;
  readonly #reading: AnswerReading;

  constructor(root: Place, reading: AnswerReading) {
    const { rules, sent } = reading;
    this.#reading = reading;
    this.body = root.source;
    this.#root = root;
    this.#seen = new Seen(root);
    const output = memberSpot(bodySpot(root), 'output');
    if (output !== undefined && output.place.kind !== 'null' && output.place.kind !== 'array')
      throw invalidAnswer('`output` is not a list');
    if (output !== undefined)
      walk(output, { items: outputItem, areItems: true }, { rules, isAnswer: true, at: '' }, this.#seen);
    for (const [key, place] of root.members) {
      if (key === 'output' || this.#repeatsText(key, place) || isSettled(key, place, sent)) continue;
      this.#seen.other.add(key, { place, owner: root, entry: key });
    }
    this.usage = readUsage(root.at('usage'));
    const isOfClient = this.#seen.calls.map(
      (call) => call.isOfClient && !isServedByRequest(call.owner.items[Number(call.entry)], sent),
    );
    const told = {
      ...describe(this.#seen, 'assistant'),
      ...this.#facts(isOfClient.includes(true)),
    };
    this.messages = [told];
    this.toolCalls = this.#seen.calls.flatMap((call, index) => {
      const { id, name, args } = describeCall(call);
      return isOfClient[index] === true ? [{ callId: id, name, args, choice: 0, index }] : [];
    });
  }

  write([changed, ...others]: readonly ChatMessage[]): string {
    const [told] = this.messages;
    if (changed === undefined || others.length > 0) throw unwritable('an answer has one message');
    if (isSameMessage(told, changed)) return this.body;
    const edits = new Edits(this.body);
    const hasText = this.#seen.body.some(({ kind }) => kind === 'text');
    rewrite(this.#seen, told, changed, edits, {
      isAnswer: true,
      add: hasText ? {} : { text: (text) => this.#addText(text, edits) },
    });
    if (told['reasoning'] !== changed['reasoning'])
      for (const item of this.#root.at('output')?.items ?? []) dropSealed(item, edits);
    const repeated = this.#root.at('output_text');
    if (repeated?.kind === 'string' && changed.content !== told.content)
      edits.replaceText(repeated, changed.content);
    const written = edits.apply();
    requireTold(new ResponsesAnswer(openPlace(written), this.#reading).messages, [changed]);
    return written;
  }

  /** Whether a member is the text of the whole answer, which some APIs and SDKs add. */
  #repeatsText(key: string, { text }: Place): boolean {
    return (
      key === 'output_text' && text === joinTexts(this.#seen.body.filter((facet) => facet.kind === 'text'))
    );
  }

  #facts(hasCalls: boolean): Readonly<Record<string, unknown>> {
    const { usage } = this;
    return {
      finish_reason: finishReasonOf(this.#root, hasCalls),
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

/** A message of the model with one text. */
export function messageItem(id: string, text: string): Readonly<Record<string, unknown>> {
  const content = [{ type: 'output_text', annotations: [], logprobs: [], text }];
  return { id, type: 'message', status: 'completed', role: 'assistant', content };
}

function suffixOf(root: Place): string {
  return (root.at('id')?.text ?? '').replace(/^resp_/, '').replaceAll(/\W/g, '') || 'signalbox';
}

/** In the native words, as those of the other endpoints. */
function finishReasonOf(root: Place, hasCalls: boolean): string {
  const status = root.at('status')?.text ?? 'completed';
  switch (status) {
    case 'completed':
      return hasCalls ? 'tool_use' : 'stop';
    case 'failed':
      return 'error';
    case 'incomplete': {
      const reason = root.at('incomplete_details')?.at('reason')?.text ?? 'incomplete';
      return reason === 'content_filter' ? 'safety' : reason;
    }
    default:
      return status;
  }
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
