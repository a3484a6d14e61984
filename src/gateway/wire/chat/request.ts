import type { ClientToolResult, RequestPayload, WireRequest, WireRules } from '../codec.ts';
import { invalidRequest } from '../faults.ts';
import type { Place } from '../place.ts';
import { openStrictly } from '../strict-json.ts';
import { numberOf, type ReadBody, readBody } from './request-body.ts';
import { writeRequest } from './written-request.ts';

/** Reads a request of `POST /v1/chat/completions`. Throws RefusedCall (400). */
export function readChatRequest(body: string, rules: WireRules): WireRequest {
  const place = openStrictly(body, (problem) => invalidRequest(`the body ${problem}`), rules.maxDepth);
  if (place.kind !== 'object') throw invalidRequest('the body is no JSON object');
  return new ChatRequest(body, { place, rules });
}

/** Whether the request asks for a last frame with the usage. */
export function wantsUsage(request: WireRequest): boolean {
  return request instanceof ChatRequest && request.wantsUsage;
}

class ChatRequest implements WireRequest {
  readonly model: string;
  readonly isStream: boolean;
  readonly maxTokens: number | undefined;
  readonly choices: number;
  readonly #body: string;
  readonly #rules: WireRules;
  readonly #read: ReadBody;

  constructor(body: string, { place, rules }: { readonly place: Place; readonly rules: WireRules }) {
    const model = place.at('model')?.text;
    if (model === undefined) throw invalidRequest('the body has no `model`', 'model');
    const stream = place.at('stream');
    if (stream !== undefined && stream.kind !== 'boolean' && stream.kind !== 'null') {
      throw invalidRequest('`stream` is neither true nor false', 'stream');
    }
    this.model = model;
    this.isStream = stream?.value === true;
    this.maxTokens = largest(numberOf(place, 'max_completion_tokens'), numberOf(place, 'max_tokens'));
    this.choices = Math.max(1, Math.trunc(numberOf(place, 'n') ?? 1));
    this.#body = body;
    this.#rules = rules;
    this.#read = readBody(place, rules);
  }

  get wantsUsage(): boolean {
    return this.#read.place.at('stream_options')?.at('include_usage')?.value === true;
  }

  get payload(): RequestPayload {
    return this.#read.payload;
  }

  get toolResults(): readonly ClientToolResult[] {
    return this.#read.read.toolResults;
  }

  get places(): readonly string[] {
    const { prompt, messages } = this.#read.read;
    return messages.map((_, index) => `messages[${prompt.length + index}]`);
  }

  write(
    changed: Pick<RequestPayload, 'messages' | 'system_prompt' | 'other' | 'tools'>,
    model: string,
  ): string {
    return writeRequest(changed, { model, body: this.#body, rules: this.#rules, read: this.#read });
  }
}

/** Of two limits, whichever the upstream heeds. */
function largest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}
