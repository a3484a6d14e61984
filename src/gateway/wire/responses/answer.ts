import { randomUUID } from 'node:crypto';
import type { ChatMessage } from '../../../contract/provider.ts';
import { costOf, writeMessages } from '../bodies.ts';
import type { AnswerToolCall, Substitute, TokenUsage, WireAnswer, WireRequest, WireRules } from '../codec.ts';
import { bodySpot, type Edits, memberSpot, openStrictly, type Place } from '../place.ts';
import { invalidAnswer, unwritable } from '../refusal.ts';
import { rewrite } from '../rewrite.ts';
import { describe, describeCall, joinTexts, Seen } from '../seen.ts';
import { isShaped, walk } from '../walk.ts';
import { ResponsesRequest } from './request.ts';
import { outputItem, responseMembers } from './shapes.ts';

/** Throws RefusedCall (502). */
export function readAnswer(body: string, rules: WireRules, request: WireRequest): WireAnswer {
  const root = openStrictly(body, (problem) => invalidAnswer(`it ${problem}`));
  if (root.kind !== 'object') throw invalidAnswer('it is not an object');
  return new ResponsesAnswer(root, { rules, sent: sentBody(request) });
}

export function sentBody(request: WireRequest): Place | undefined {
  return request instanceof ResponsesRequest ? request.sent : undefined;
}

interface AnswerReading {
  readonly rules: WireRules;
  readonly sent: Place | undefined;
}

/** Whether a member beside the items has its declared shape or repeats the request, so that hooks need not see it. */
export function isSettled(key: string, place: Place, sent: Place | undefined): boolean {
  return isShaped(place, key, responseMembers) || isEchoed(key, place, sent);
}

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
      finish_reason: finishReasonOf(this.#root, isOfClient.includes(true)),
      ...costOf(this.usage),
    };
    this.messages = [told];
    this.toolCalls = this.#seen.calls.flatMap((call, index) => {
      const { id, name, args } = describeCall(call);
      return isOfClient[index] === true ? [{ callId: id, name, args, choice: 0, index }] : [];
    });
  }

  write(messages: readonly ChatMessage[]): string {
    const [told] = this.messages;
    const write = (changed: ChatMessage, edits: Edits) => {
      const hasText = this.#seen.body.some(({ kind }) => kind === 'text');
      rewrite(this.#seen, told, changed, edits, {
        isAnswer: true,
        add: hasText ? {} : { text: (text) => this.#addText(text, edits) },
      });
      const repeated = this.#root.at('output_text');
      if (repeated?.kind === 'string' && changed.content !== told.content)
        edits.replaceText(repeated, changed.content);
      return changed;
    };
    const readAgain = (written: Place) => new ResponsesAnswer(written, this.#reading).messages;
    return writeMessages(this.body, [{ told, write }], messages, readAgain);
  }

  #repeatsText(key: string, { text }: Place): boolean {
    return (
      key === 'output_text' && text === joinTexts(this.#seen.body.filter((facet) => facet.kind === 'text'))
    );
  }

  #addText(text: string, edits: Edits): void {
    const output = this.#root.at('output');
    if (output?.kind !== 'array') throw unwritable('a response without `output` cannot get a text');
    edits.insert(output, JSON.stringify(messageItem(`msg_${suffixOf(this.#root)}`, text)));
  }
}

function messageItem(id: string, text: string): Readonly<Record<string, unknown>> {
  const content = [{ type: 'output_text', annotations: [], logprobs: [], text }];
  return { id, type: 'message', status: 'completed', role: 'assistant', content };
}

function suffixOf(root: Place): string {
  return (root.at('id')?.text ?? '').replace(/^resp_/, '').replaceAll(/\W/g, '') || 'signalbox';
}

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

/**
 * Hosted shells and tool searches use the item types of the client's calls. The item alone is no proof that the API
 * runs the call, because a client may ignore what it says. So the request decides.
 */
function isServedByRequest(item: Place | undefined, sent: Place | undefined): boolean {
  const tools = sent?.at('tools')?.items ?? [];
  const of = (type: string) => tools.filter((tool) => tool.at('type')?.text === type);
  switch (item?.at('type')?.text) {
    case 'shell_call': {
      const environment = item.at('environment')?.at('type')?.text;
      return environment === 'container_reference' && isAll(of('shell'), isHostedShell);
    }
    case 'tool_search_call':
      return item.at('execution')?.text === 'server' && isAll(of('tool_search'), isHostedSearch);
    default:
      return false;
  }
}

function isAll(tools: readonly Place[], isHosted: (tool: Place) => boolean): boolean {
  return tools.length > 0 && tools.every(isHosted);
}

function isHostedShell(tool: Place): boolean {
  const type = tool.at('environment')?.at('type')?.text;
  return type === 'container_auto' || type === 'container_reference';
}

function isHostedSearch(tool: Place): boolean {
  const execution = tool.at('execution');
  return execution === undefined || execution.kind === 'null' || execution.text === 'server';
}

const echoedKeys: ReadonlySet<string> = new Set([
  'instructions',
  'tools',
  'tool_choice',
  'metadata',
  'text',
  'reasoning',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'previous_response_id',
  'conversation',
  'prompt',
  'truncation',
]);

/** Hooks have already allowed the request's member. APIs fill in defaults, so their names and words may be added. */
function isEchoed(key: string, place: Place, sent: Place | undefined): boolean {
  const asked = echoedKeys.has(key) ? sent?.at(key) : undefined;
  if (asked === undefined) return false;
  if (place.source.slice(place.start, place.end) === asked.source.slice(asked.start, asked.end)) return true;
  const known = new Set<string>(filledIn);
  collectTexts(asked, known);
  return repeats(place, known);
}

function repeats(place: Place, known: ReadonlySet<string>): boolean {
  if (place.kind === 'string') return known.has(place.text ?? '');
  if (place.kind === 'array') return place.items.every((item) => repeats(item, known));
  return [...place.members].every(([name, member]) => known.has(name) && repeats(member, known));
}

function collectTexts(place: Place, texts: Set<string>): void {
  if (place.kind === 'string') texts.add(place.text ?? '');
  for (const item of place.items) collectTexts(item, texts);
  for (const [name, member] of place.members) {
    texts.add(name);
    collectTexts(member, texts);
  }
}

const filledIn: readonly string[] =
  `type name description strict parameters output_schema format allowed_callers
  defer_loading async tools filters user_location search_context_size search_content_types external_web_access
  return_token_budget allowed_domains blocked_domains country city region timezone vector_store_ids max_num_results
  ranking_options ranker score_threshold hybrid_search embedding_weight text_weight server_label server_url
  server_description allowed_tools require_approval connector_id headers authorization container file_ids memory_limit
  network_policy environment skills background model moderation output_compression output_format partial_images quality
  size input_fidelity input_image_mask action display_width display_height execution effort summary generate_summary
  context mode verbosity schema syntax definition id version variables ttl comparison_response_id
  auto text json_schema json_object low medium high minimal none xhigh max disabled required function custom grammar
  default always never approximate direct programmatic concise detailed implicit explicit in_memory 24h 30m 12h
  server client opaque png`.split(/\s+/);

// --- responses of our own ---

/** Formats a stand-in. The native refusal is an incomplete response with the reason `content_filter`. */
export function formatSubstitute({ text, end }: Substitute, model: string): string {
  const id = randomUUID().replaceAll('-', '');
  const isRefused = end === 'refused';
  return JSON.stringify({
    ...openResponse(model, `resp_${id}`),
    status: isRefused ? 'incomplete' : 'completed',
    incomplete_details: isRefused ? { reason: 'content_filter' } : null,
    output: [{ ...messageItem(`msg_${id}`, text), ...(isRefused && { status: 'incomplete' }) }],
    usage: {
      input_tokens: 0,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 0,
    },
  });
}

/** A response at its start, with the members that the openai package's `Response` requires. */
export function openResponse(
  model: string,
  id = `resp_${randomUUID().replaceAll('-', '')}`,
): Readonly<Record<string, unknown>> {
  return {
    id,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
    usage: null,
    user: null,
    metadata: {},
  };
}
