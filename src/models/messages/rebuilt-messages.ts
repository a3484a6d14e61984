import type { LanguageModelV4FilePart, LanguageModelV4Message } from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { alignMessages } from './message-alignment.ts';
import type { ToolPart } from './message-description.ts';
import { plainMessage } from './plain-json.ts';
import { type AssistantPart, readCalls, rebuildAssistant } from './rebuilt-assistant.ts';
import { createFileFinder, type FindFile, type PlainObject, rebuildBody } from './rebuilt-body.ts';
import { rebuildToolPart } from './rebuilt-tool-part.ts';

export interface SentMessages {
  /** Without the system messages at its beginning. */
  readonly prompt: readonly LanguageModelV4Message[];
  /** What `describeMessage` made of them, in order. */
  readonly messages: readonly ChatMessage[];
}

/** The prompt messages of native messages: the sent ones where unchanged, new ones for the others. */
export function rebuildMessages(
  messages: readonly ChatMessage[],
  sent: SentMessages,
): LanguageModelV4Message[] {
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

/** The prompt message that a native message came from. */
interface MessageOrigin {
  readonly from: LanguageModelV4Message;
  /** The tool part that it is, for a message of a tool. */
  readonly part: ToolPart | undefined;
  /** For the first message of `from` how many there are, 0 for the others. */
  readonly span: number;
}

/** A native message that hooks returned, with its origin. */
interface AlignedMessage {
  readonly plain: PlainObject;
  readonly role: ChatMessage['role'];
  readonly origin: MessageOrigin | undefined;
  /** The position of its origin; -1 without one. */
  readonly index: number;
  readonly isSame: boolean;
}

interface RebuiltMessage {
  readonly message: LanguageModelV4Message;
  /** How many native messages went into it. */
  readonly count: number;
}

function listOrigins({ prompt }: SentMessages): MessageOrigin[] {
  return prompt.flatMap((from) => {
    const parts = partsOf(from);
    return parts.map((part, index) => ({ from, part, span: index === 0 ? parts.length : 0 }));
  });
}

/** One entry for each native message that `describeMessage` makes. */
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

/** Whether a tool result still belongs to the call of its origin. */
function isResultOfSameCall({ tool_result: result }: PlainObject, { part }: MessageOrigin): boolean {
  return part?.type !== 'tool-result' || (isObject(result) && result['id'] === part.toolCallId);
}

/** The prompt message itself, when all native messages that it was sent as are here and the same. */
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

/** The provider options of the original message, to spread. */
function optionsOf(origin: MessageOrigin | undefined) {
  const options = origin?.from.providerOptions;
  return options === undefined ? {} : { providerOptions: options };
}

/** An assistant message and the results, behind it, of tools that the provider ran. */
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

/** A run of tool messages is one message of the prompt, or where it was several, as many. */
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
