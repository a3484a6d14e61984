import type { LanguageModelV4FilePart, LanguageModelV4Message } from '@ai-sdk/provider';
import type { ChatMessage } from '../../contract/provider.ts';
import { RuntimeError } from '../../errors.ts';
import { isObject } from '../../json/json.ts';
import { alignMessages } from './align.ts';
import type { ToolPart } from './describe.ts';
import { type AssistantPart, readCalls, rebuildAssistant } from './rebuild-assistant.ts';
import { createFileFinder, type FindFile, type Plain, rebuildBody } from './rebuild-body.ts';
import { rebuildToolPart } from './rebuild-tool.ts';
import { plainMessage } from './same.ts';

export interface SentMessages {
  /** Without the system messages at its beginning. */
  readonly prompt: readonly LanguageModelV4Message[];
  /** What `describeMessage` made of them, in order. */
  readonly messages: readonly ChatMessage[];
}

/** Prompt messages of native ones: those that were sent and are the same, and new ones for the others. */
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
    const { message, count } = keep(items, at) ?? rebuild(items, at, findFile);
    built.push(message);
    at += count;
  }
  return built;
}

/** What a native message stands for. */
interface Origin {
  readonly from: LanguageModelV4Message;
  /** The tool part that it is, for a message of a tool. */
  readonly part: ToolPart | undefined;
  /** For the first message of `from` how many there are, 0 for the others. */
  readonly span: number;
}

/** A message that came back. */
interface Item {
  readonly plain: Plain;
  readonly role: ChatMessage['role'];
  readonly origin: Origin | undefined;
  /** The position of its origin; -1 without one. */
  readonly index: number;
  readonly isSame: boolean;
}

interface Taken {
  readonly message: LanguageModelV4Message;
  /** How many native messages went into it. */
  readonly count: number;
}

function listOrigins({ prompt }: SentMessages): Origin[] {
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
  origins: readonly Origin[],
): Item[] {
  const aligned = alignMessages(sent, messages);
  return messages.map((message, at) => {
    const plain = plainMessage(message);
    const { index = -1, isSame = false } = aligned[at] ?? {};
    const origin = origins[index];
    const item = { plain, role: message.role };
    if (origin === undefined || !isItsOrigin(plain, origin)) {
      return { ...item, origin: undefined, index: -1, isSame: false };
    }
    return { ...item, origin, index, isSame };
  });
}

/** The result of another call is another message, wherever it stands. */
function isItsOrigin({ tool_result: result }: Plain, { part }: Origin): boolean {
  return part?.type !== 'tool-result' || (isObject(result) && result['id'] === part.toolCallId);
}

/** The prompt message itself, when all native messages that it was sent as are here and the same. */
function keep(items: readonly Item[], at: number): Taken | undefined {
  const { origin, index } = items[at] ?? {};
  if (origin === undefined || index === undefined || origin.span === 0) return undefined;
  const group = items.slice(at, at + origin.span);
  const isWhole =
    group.length === origin.span &&
    group.every((item, offset) => item.isSame && item.index === index + offset);
  return isWhole ? { message: origin.from, count: origin.span } : undefined;
}

function rebuild(items: readonly Item[], at: number, findFile: FindFile): Taken {
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
      return takeAssistant(items, at, { item, findFile });
    case 'tool':
      return takeTools(items, at, findFile);
  }
}

/** A caller's own settings of a message; a model's may refer to what it said. */
function optionsOf(origin: Origin | undefined) {
  const options = origin?.from.providerOptions;
  return options === undefined ? {} : { providerOptions: options };
}

/** An assistant message and, behind it, what became of the results of the tools that the provider ran. */
function takeAssistant(
  items: readonly Item[],
  at: number,
  { item, findFile }: { readonly item: Item; readonly findFile: FindFile },
): Taken {
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
function takeTools(items: readonly Item[], at: number, findFile: FindFile): Taken {
  const content: ToolPart[] = [];
  let from: LanguageModelV4Message | undefined;
  let end = at;
  for (let next = items[end]; next?.role === 'tool'; next = items[++end]) {
    if (end > at && keep(items, end) !== undefined) break;
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

function rebuildTool({ plain, origin, isSame }: Item, findFile: FindFile): ToolPart {
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
