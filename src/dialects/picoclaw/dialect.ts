import { RuntimeError } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { membersOf } from '../../base/json/scan.ts';
import type { Message, Reply } from '../../contract/exchange.ts';
import { type Answer, answers, type HookEvent } from '../../contract/hook.ts';
import type { ChatMessage, ProviderRequest } from '../../contract/provider.ts';
import { excerpt, nonNull, toBody } from '../body.ts';
import type { Note } from '../dialect.ts';
import type { ForeignDialect, HandshakeResult, HookEntry, Question } from '../foreign-dialect.ts';
import { complete } from './complete.ts';
import type { PicoclawSettings } from './config/settings.ts';
import { decode, messageOf } from './decode.ts';
import { describe } from './describe.ts';
import { encode, isObserved, kindOf, nextPayload, toCall } from './events.ts';
import { isActionPoint, methodPairs, points, pointsAt } from './points.ts';
import {
  countFiles,
  isSame,
  type PromptParts,
  promptMessages,
  type ReadMessage,
  readMessages,
  readResponseObject,
  readToolDefs,
  toMessage,
  toToolDef,
} from './wire.ts';

/** Process hooks of PicoClaw. Source: hook-json-protocol.md of v0.2.8. */
export const picoclaw: ForeignDialect<PicoclawSettings> = {
  name: 'picoclaw',
  points,
  keepsFileOrder: true,
  callOrder: 'one_by_one',
  readsTranscript: false,
  pointsAt,
  describe,
  complete,
  selects,
  isBackground: () => false,
  staticAnswer: () => undefined,
  encode,
  decode,
  nextPayload,
  handshake: (entry) => ({
    message: handshakeMessage(entry),
    read: (reply) => readHandshake(entry, reply),
  }),
  toNeutralAnswer,
};

/**
 * The hello names methods only in pairs, so one of a pair turns the other on. Events without a form in the hook's
 * version are not sent.
 */
export function selects({ settings }: HookEntry<PicoclawSettings>, { point, payload }: Question): boolean {
  const { intercept, observe, version } = settings;
  if (isActionPoint(point)) return methodPairs[point].some((method) => intercept.includes(method));
  if (point === 'approve_tool') return intercept.includes('approve_tool');
  const kind = kindOf(payload);
  if (kind === undefined || (version === '0.2.8-doc' && kind.legacy === undefined)) return false;
  return isObserved(observe, kind);
}

export function toNeutralAnswer(event: HookEvent, _question: Question, answer: Answer): Answer {
  if (answer.verdict !== 'modify') return answer;
  const { replace, droppedFiles } = toNeutralReplace(event, answer.replace);
  const { reason, context = [] } = answer;
  const metadata = withDroppedFiles(answer.metadata, droppedFiles);
  if (Object.keys(replace).length === 0) return answers.allow({ reason, metadata, context });
  return answers.modify(replace, { reason, metadata, context });
}

function toNeutralReplace(event: HookEvent, replace: Json): NeutralReplacement {
  const parts = membersOf(replace);
  switch (event.phase) {
    case 'before_call':
      return toNeutralRequest(event.request, parts);
    case 'after_call':
      return toNeutralMessage(event.response.message, parts['response'] ?? new Json('{}'));
    default:
      return { replace: parts, droppedFiles: 0 };
  }
}

function withDroppedFiles(metadata: Json, droppedFiles: number): Json {
  if (droppedFiles === 0) return metadata;
  const members = membersOf(metadata);
  const own = membersOf(members['picoclaw'] ?? new Json('{}'));
  return Json.from({ ...members, picoclaw: { ...own, dropped_files: droppedFiles } });
}

function toNeutralMessage(original: ChatMessage, response: Json): NeutralReplacement {
  const { content, reasoning, calls } = readResponseObject(response, 'the answer');
  const { parts, tool_calls: _calls, reasoning: _reasoning, ...others } = original;
  const keepsText = content === original.content;
  const message = {
    ...others,
    role: 'assistant',
    content,
    ...(keepsText && parts !== undefined && { parts }),
    ...(reasoning !== '' && { reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return { replace: { message }, droppedFiles: keepsText ? 0 : countFiles(original) };
}

type Parts = Readonly<Record<string, Json>>;

function toNeutralRequest(
  request: ProviderRequest,
  { model, messages, tools, options }: Parts,
): NeutralReplacement {
  const given = messages && toNeutralMessages(request, readMessages(messages, '`messages`'));
  const replace = {
    ...given?.replace,
    ...(tools !== undefined && toNeutralTools(request, tools)),
    ...(model !== undefined && model.value !== request.model && { model }),
    ...(options !== undefined && toNeutralOptions(request, options)),
  };
  return { replace, droppedFiles: given?.droppedFiles ?? 0 };
}

function toNeutralTools({ tools = [] }: ProviderRequest, given: Json) {
  if (isSame(given, Json.from(tools.map(toToolDef)))) return {};
  const listings = readToolDefs(given, '`tools`').map(({ name, description, parameters }) => ({
    ...tools.find((tool) => tool.name === name),
    name,
    description,
    input_schema: parameters ?? { type: 'object' },
  }));
  return { tools: listings };
}

function toNeutralOptions({ options: { max_tokens, temperature } = {} }: ProviderRequest, given: Json) {
  const parts = membersOf(given);
  const tokens = nonNull(parts['max_tokens']);
  const heat = nonNull(parts['temperature']);
  if (tokens?.value === max_tokens && heat?.value === temperature) return {};
  return { options: { ...(tokens && { max_tokens: tokens }), ...(heat && { temperature: heat }) } };
}

/** A replacement in neutral form, and the number of lost images and files, which PicoClaw cannot carry. */
export interface NeutralReplacement {
  readonly replace: Readonly<Record<string, unknown>>;
  readonly droppedFiles: number;
}

/**
 * Leading system messages are the system prompt. A message with its old position, role and text keeps the members that
 * an MSG cannot carry.
 */
export function toNeutralMessages(prompt: PromptParts, given: readonly ReadMessage[]): NeutralReplacement {
  const originals = promptMessages(prompt);
  const pairs = given.map((message, index) => toNeutralOne(message, originals[index], { given, originals }));
  const firstOther = given.findIndex(({ role }) => role !== 'system');
  const leads = firstOther === -1 ? given.length : firstOther;
  const system_prompt = given
    .slice(0, leads)
    .map(({ content }) => content)
    .join('\n\n');
  const kept = pairs.reduce((count, message) => count + countFiles(message), 0);
  const before = originals.reduce((count, message) => count + countFiles(message), 0);
  const changesSystem = system_prompt !== prompt.system_prompt;
  return {
    replace: { messages: pairs.slice(leads), ...(changesSystem && { system_prompt }) },
    droppedFiles: before - kept,
  };
}

interface MessageLists {
  readonly given: readonly ReadMessage[];
  readonly originals: readonly ChatMessage[];
}

function toNeutralOne(
  message: ReadMessage,
  original: ChatMessage | undefined,
  lists: MessageLists,
): ChatMessage {
  if (original !== undefined && isSame(message.json, Json.from(toMessage(original)))) return original;
  const { role, content, reasoning, calls, callId } = message;
  const isUnchanged = original !== undefined && original.role === role && original.content === content;
  const {
    tool_calls: _calls,
    reasoning: _reasoning,
    tool_result,
    ...others
  } = isUnchanged ? original : { role, content };
  const result = isUnchanged && idOf(tool_result) === callId ? tool_result : resultOf(message, lists);
  return {
    ...others,
    ...(reasoning !== '' && { reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(role === 'tool' && { tool_result: result }),
  };
}

function resultOf({ callId, content }: ReadMessage, { given, originals }: MessageLists) {
  const known = originals.find(
    ({ tool_result }) => tool_result !== undefined && idOf(tool_result) === callId,
  );
  const call = given.flatMap(({ calls }) => calls).find(({ id }) => id === callId);
  if (known === undefined) return { id: callId, name: call?.name ?? '', latency_ms: 0 };
  const { parts: _parts, ...rest } = membersOf(Json.from(known['tool_result']));
  return rest['error'] === undefined || rest['error'].value === '' ? rest : { ...rest, error: content };
}

function idOf(result: unknown): unknown {
  if (result === undefined) return undefined;
  const { value } = Json.from(result);
  return isObject(value) ? value['id'] : undefined;
}

export function handshakeMessage({ name, settings }: HookEntry<PicoclawSettings>): Message {
  return toCall('hook.hello', { name, version: 1, modes: modesOf(settings) }, settings.helloTimeoutMs);
}

function modesOf({ observe, intercept }: PicoclawSettings): string[] {
  const named = (...methods: PicoclawSettings['intercept'][number][]) =>
    methods.some((method) => intercept.includes(method));
  return [
    ...(observe.length > 0 ? ['observe'] : []),
    ...(named('before_llm', 'after_llm') ? ['llm'] : []),
    ...(named('before_tool', 'after_tool') ? ['tool'] : []),
    ...(named('approve_tool') ? ['approve'] : []),
  ];
}

/** An empty result is accepted. */
export function readHandshake(
  entry: HookEntry<PicoclawSettings>,
  reply: Reply | RuntimeError,
): HandshakeResult {
  if (reply instanceof RuntimeError) return readHandshakeFault(entry, reply);
  if (reply.via === 'process') return reject(entry, 'is not a server');
  if (reply.error !== undefined) return reject(entry, `answered with the error ${messageOf(reply.error)}`);
  const result = nonNull(reply.result);
  if (result === undefined) return { accepted: true, notes: [] };
  if (!isObject(result.value)) return reject(entry, `answered ${excerpt(result.text)}`);
  const body = toBody(result);
  const ok = body.get('ok');
  if (ok === undefined || ok.value === true) return { accepted: true, notes: noteNames(body) };
  if (!entry.settings.isLenient) return reject(entry, `answered \`ok: ${excerpt(ok.text)}\``);
  const message = `it answered the hello with \`ok: ${excerpt(ok.text)}\`, which \`lenient: true\` accepts`;
  return { accepted: true, notes: [...noteNames(body), { level: 'warn', message }] };
}

function readHandshakeFault(entry: HookEntry<PicoclawSettings>, error: RuntimeError): HandshakeResult {
  const { code, message, hint, details } = error;
  if (details['problem'] === 'no_result') return { accepted: true, notes: [] };
  if (details['problem'] === 'error_type')
    return reject(entry, 'answered with an error that is not an object');
  const stage = code === 'PROCESS_START' ? 'start' : 'hello';
  const staged = new RuntimeError(code, message, {
    hint: code === 'PROCESS_TIMEOUT' ? timeoutHint : hint,
    details: { ...details, stage },
    cause: error,
  });
  return { accepted: false, error: staged };
}

const timeoutHint = 'Raise picoclaw.hello_timeout_ms, or find out what the process waits for.';

function reject({ name }: HookEntry<PicoclawSettings>, what: string): HandshakeResult {
  const hint = 'Answer `hook.hello` with {"ok": true}.';
  const error = new RuntimeError('REPLY_MALFORMED', `"${name}" refused the hello: it ${what}`, {
    hint,
    details: { stage: 'hello' },
  });
  return { accepted: false, error };
}

function noteNames(body: ReturnType<typeof toBody>): Note[] {
  const names = ['name', 'version'].flatMap((key) => {
    const value = nonNull(body.get(key));
    return value === undefined ? [] : [`${key} ${excerpt(value.text)}`];
  });
  return names.length === 0 ? [] : [{ level: 'debug', message: `it describes itself: ${names.join(', ')}` }];
}
