import {
  isJSONValue,
  type LanguageModelV4FilePart,
  type LanguageModelV4Message,
  type LanguageModelV4Prompt,
  type LanguageModelV4ToolResultOutput,
  type LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { tryParseLossless } from '../../base/json/parse.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { describeMessage, type ToolPart } from './message-description.ts';
import {
  type AssistantPart,
  alignMessages,
  createFileFinder,
  type FindFile,
  type PlainObject,
  plainMessage,
  readCalls,
  rebuildAssistant,
  rebuildBody,
} from './rebuilt.ts';

interface NativePrompt {
  readonly messages: readonly ChatMessage[];
  readonly system_prompt: string;
}

interface SentPrompt {
  readonly prompt: LanguageModelV4Prompt;
  readonly messages: readonly ChatMessage[];
}

/**
 * Leading system messages become the system prompt, and each part of a tool message becomes a message. Provider options
 * and signatures are left out.
 */
export function fromPrompt(prompt: LanguageModelV4Prompt): {
  readonly messages: ChatMessage[];
  readonly system_prompt: string;
} {
  const leading = leadingSystemMessages(prompt);
  const rest = prompt.slice(leading.length);
  return {
    messages: rest.flatMap((message) => describeMessage(message).map((described) => described.message)),
    system_prompt: systemText(leading),
  };
}

/**
 * Takes unchanged messages from `original`, with provider options, files and signatures. Throws REPLY_MALFORMED if a
 * message cannot be sent to a model.
 */
export function toPrompt(native: NativePrompt, original?: SentPrompt): LanguageModelV4Prompt {
  const prompt = original?.prompt ?? [];
  const leading = leadingSystemMessages(prompt);
  const rest = prompt.slice(leading.length);
  const system = buildSystem(native.system_prompt, leading);
  return [
    ...system,
    ...rebuildMessages(native.messages, { prompt: rest, messages: original?.messages ?? [] }),
  ];
}

type SystemMessage = Extract<LanguageModelV4Message, { role: 'system' }>;

function leadingSystemMessages(prompt: LanguageModelV4Prompt): SystemMessage[] {
  const leading: SystemMessage[] = [];
  for (const message of prompt) {
    if (message.role !== 'system') break;
    leading.push(message);
  }
  return leading;
}

function systemText(lead: readonly SystemMessage[]): string {
  return lead.map(({ content }) => content).join('\n\n');
}

/** A changed system prompt is one message with the options of the last one, because a cache mark is at the end. */
function buildSystem(text: string, lead: readonly SystemMessage[]): readonly SystemMessage[] {
  if (text === systemText(lead)) return lead;
  return text === '' ? [] : [{ ...lead.at(-1), role: 'system', content: text }];
}

/** The number of the model call in its turn, from 1. A turn begins with the last user message. */
export function roundOf(prompt: LanguageModelV4Prompt): number {
  const turn = prompt.slice(prompt.findLastIndex(({ role }) => role === 'user') + 1);
  return 1 + turn.filter(({ role }) => role === 'assistant').length;
}

interface SentMessages {
  readonly prompt: readonly LanguageModelV4Message[];
  readonly messages: readonly ChatMessage[];
}

function rebuildMessages(messages: readonly ChatMessage[], sent: SentMessages): LanguageModelV4Message[] {
  const origins = listOrigins(sent);
  const isUntouched =
    messages.length === origins.length &&
    messages.every((message, index) => message === sent.messages[index]);
  if (isUntouched) return [...sent.prompt];
  const items = listItems(messages, sent.messages, origins);
  const findFile = createFileFinder(() => sent.prompt.flatMap(filesOf));
  const built: LanguageModelV4Message[] = [];
  for (let at = 0; at < items.length; ) {
    const { message, count } = takeUnchanged(items, at) ?? rebuildMessage(items, at, findFile);
    built.push(message);
    at += count;
  }
  return built;
}

interface MessageOrigin {
  readonly from: LanguageModelV4Message;
  readonly part: ToolPart | undefined;
  /** The number of messages for the first message of `from`, 0 for the others. */
  readonly span: number;
}

interface AlignedMessage {
  readonly plain: PlainObject;
  readonly role: ChatMessage['role'];
  readonly origin: MessageOrigin | undefined;
  readonly index: number;
  readonly isSame: boolean;
}

interface RebuiltMessage {
  readonly message: LanguageModelV4Message;
  readonly count: number;
}

function listOrigins({ prompt }: SentMessages): MessageOrigin[] {
  return prompt.flatMap((from) => {
    const parts = partsOf(from);
    return parts.map((part, index) => ({ from, part, span: index === 0 ? parts.length : 0 }));
  });
}

function partsOf(message: LanguageModelV4Message): (ToolPart | undefined)[] {
  if (message.role === 'tool') return message.content;
  if (message.role !== 'assistant') return [undefined];
  return [undefined, ...message.content.filter((part) => part.type === 'tool-result')];
}

function listItems(
  messages: readonly ChatMessage[],
  sent: readonly ChatMessage[],
  origins: readonly MessageOrigin[],
): AlignedMessage[] {
  const aligned = alignMessages(sent, messages);
  return messages.map((message, at) => {
    const plain = plainMessage(message);
    const { index = -1, isSame = false } = aligned[at] ?? {};
    const origin = origins[index];
    const item = { plain, role: message.role };
    if (origin === undefined || !isResultOfSameCall(plain, origin)) {
      return { ...item, origin: undefined, index: -1, isSame: false };
    }
    return { ...item, origin, index, isSame };
  });
}

function isResultOfSameCall({ tool_result: result }: PlainObject, { part }: MessageOrigin): boolean {
  return part?.type !== 'tool-result' || (isObject(result) && result['id'] === part.toolCallId);
}

function takeUnchanged(items: readonly AlignedMessage[], at: number): RebuiltMessage | undefined {
  const { origin, index } = items[at] ?? {};
  if (origin === undefined || index === undefined || origin.span === 0) return undefined;
  const group = items.slice(at, at + origin.span);
  const isWhole =
    group.length === origin.span &&
    group.every((item, offset) => item.isSame && item.index === index + offset);
  return isWhole ? { message: origin.from, count: origin.span } : undefined;
}

function rebuildMessage(items: readonly AlignedMessage[], at: number, findFile: FindFile): RebuiltMessage {
  const item = items[at];
  if (item === undefined) throw new RuntimeError('INTERNAL', 'a replaced message is missing');
  const { plain, role, origin } = item;
  if (role !== 'assistant' && readCalls(plain['tool_calls']).length > 0) {
    throw new RuntimeError('REPLY_MALFORMED', `a replaced ${role} message has \`tool_calls\``);
  }
  switch (role) {
    case 'system': {
      const content = String(plain['content']);
      return { message: { ...optionsOf(origin), role, content }, count: 1 };
    }
    case 'user': {
      const body = origin?.from.role === 'user' ? origin.from.content : [];
      const content = [...rebuildBody(plain, { body, findFile, keepsOptions: true })];
      return { message: { ...optionsOf(origin), role, content }, count: 1 };
    }
    case 'assistant':
      return rebuildAssistantGroup(items, at, { item, findFile });
    case 'tool':
      return rebuildToolGroup(items, at, findFile);
  }
}

function optionsOf(origin: MessageOrigin | undefined) {
  const options = origin?.from.providerOptions;
  return options === undefined ? {} : { providerOptions: options };
}

function rebuildAssistantGroup(
  items: readonly AlignedMessage[],
  at: number,
  { item, findFile }: { readonly item: AlignedMessage; readonly findFile: FindFile },
): RebuiltMessage {
  const from = item.origin?.from;
  if (from?.role !== 'assistant') {
    return { message: rebuildAssistant(item.plain, { content: [], findFile, results: new Map() }), count: 1 };
  }
  const results = new Map<AssistantPart, AssistantPart>();
  let end = at + 1;
  for (let next = items[end]; next?.origin?.from === from; next = items[++end]) {
    const old = next.origin.part;
    const result = rebuildTool(next, findFile);
    if (old?.type === 'tool-result' && result.type === 'tool-result') results.set(old, result);
  }
  const message = rebuildAssistant(item.plain, { content: from.content, findFile, results });
  return { message, count: end - at };
}

function rebuildToolGroup(items: readonly AlignedMessage[], at: number, findFile: FindFile): RebuiltMessage {
  const content: ToolPart[] = [];
  let from: LanguageModelV4Message | undefined;
  let end = at;
  for (let next = items[end]; next?.role === 'tool'; next = items[++end]) {
    if (end > at && takeUnchanged(items, end) !== undefined) break;
    if (next.origin !== undefined && from !== undefined && next.origin.from !== from) break;
    from ??= next.origin?.from;
    content.push(rebuildTool(next, findFile));
  }
  if (from?.role === 'assistant') {
    const what = 'the result of a tool that the provider ran has lost the message of its call';
    throw new RuntimeError('REPLY_MALFORMED', what);
  }
  const options = from?.providerOptions;
  return {
    message: { role: 'tool', content, ...(options && { providerOptions: options }) },
    count: end - at,
  };
}

function rebuildTool({ plain, origin, isSame }: AlignedMessage, findFile: FindFile): ToolPart {
  const part = origin?.part;
  return isSame && part !== undefined ? part : rebuildToolPart(plain, { part, findFile });
}

function filesOf({ content }: LanguageModelV4Message): LanguageModelV4FilePart[] {
  if (typeof content === 'string') return [];
  return content.flatMap((part): LanguageModelV4FilePart[] => {
    if (part.type === 'file') return [part];
    if (part.type !== 'tool-result' || part.output.type !== 'content') return [];
    return part.output.value.filter((value) => value.type === 'file');
  });
}

interface ToolOrigin {
  readonly part: ToolPart | undefined;
  readonly findFile: FindFile;
}

function rebuildToolPart(message: PlainObject, { part, findFile }: ToolOrigin): ToolPart {
  if (isObject(message['tool_approval'])) return rebuildApproval(message, message['tool_approval']);
  const result = message['tool_result'];
  if (!isObject(result)) throw malformedResult();
  const { id, name } = result;
  if (typeof id !== 'string' || typeof name !== 'string') throw malformedResult();
  const old = part?.type === 'tool-result' && part.toolCallId === id ? part : undefined;
  const output = rebuildOutput({ content: message['content'], ...result }, old, findFile);
  return { type: 'tool-result', toolCallId: id, toolName: name, output };
}

function malformedResult(): RuntimeError {
  const what = 'a replaced tool message has no `tool_result` with an id and a name';
  return new RuntimeError('REPLY_MALFORMED', what);
}

function rebuildApproval({ content }: PlainObject, { id, approved }: PlainObject): ToolPart {
  if (typeof id !== 'string' || typeof approved !== 'boolean') {
    throw new RuntimeError('REPLY_MALFORMED', 'a replaced `tool_approval` is not {id, approved}');
  }
  const reason = typeof content === 'string' && content !== '' ? { reason: content } : {};
  return { type: 'tool-approval-response', approvalId: id, approved, ...reason };
}

type Output = LanguageModelV4ToolResultOutput;

function rebuildOutput(
  result: PlainObject,
  old: LanguageModelV4ToolResultPart | undefined,
  findFile: FindFile,
): Output {
  if (Array.isArray(result['parts'])) {
    const value = rebuildBody(result, { body: [], findFile, keepsOptions: false });
    return { type: 'content', value: [...value] };
  }
  const text = changedText(result, old);
  if (!isError(result)) return okOutput(text, old?.output);
  if (result['error_type'] === 'approval') return { type: 'execution-denied', reason: text };
  return old?.output.type === 'error-json'
    ? jsonOutput(text, 'error-json')
    : { type: 'error-text', value: text };
}

function isError({ error, error_type: type }: PlainObject): boolean {
  return (typeof error === 'string' && error !== '') || type === 'approval';
}

function okOutput(text: string, old: Output | undefined): Output {
  return old?.type === 'json' ? jsonOutput(text, 'json') : { type: 'text', value: text };
}

function jsonOutput(text: string, type: 'json' | 'error-json'): Output {
  const value = tryParseLossless(text);
  if (value !== undefined && isJSONValue(value)) return { type, value };
  return { type: type === 'json' ? 'text' : 'error-text', value: text };
}

/** `content` and `error` both hold the text of a failed result. The changed copy counts. */
function changedText(
  { content, error }: PlainObject,
  old: LanguageModelV4ToolResultPart | undefined,
): string {
  const text = typeof content === 'string' ? content : '';
  if (typeof error !== 'string' || error === '' || error === text) return text;
  const [sent] = old === undefined ? [] : describeMessage({ role: 'tool', content: [old] });
  const before = sent?.message.content ?? '';
  if (error === before) return text;
  if (text === before) return error;
  throw new RuntimeError(
    'REPLY_MALFORMED',
    'a replaced tool message has different texts in `content` and `error`',
  );
}
