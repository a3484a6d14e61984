import type {
  JSONValue,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ToolCallPart,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { canonicalJson, isSameToTheDigit } from '../../base/json/equal.ts';
import { isObject, toLossless } from '../../base/json/json.ts';
import { isSealed } from '../../base/text/sealed.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { parseFilePart, withFileText } from './media.ts';
import { type BodyPart, describeBody, describeBodyPart, describeCall } from './message-description.ts';

export type PlainObject = Readonly<Record<string, unknown>>;

export type FindFile = (part: PlainObject) => LanguageModelV4FilePart | undefined;

interface BodyOrigin {
  readonly body: readonly BodyPart[];
  readonly findFile: FindFile;
  /** A person's changed text keeps its provider options; a model's options can refer to the old text. */
  readonly keepsOptions: boolean;
}

export function rebuildBody(message: PlainObject, origin: BodyOrigin): readonly BodyPart[] {
  const { content, parts } = message;
  const given = requireParts(parts);
  const text = typeof content === 'string' ? content : '';
  const sent = describeBody(origin.body);
  if (text === sent.content && isSameToTheDigit(given ?? [], sent.parts ?? [])) return origin.body;
  if (given === undefined) return textBody(text, origin);
  const built = given.map((part, index) => rebuildPart(part, index, origin));
  const texts = given.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : []));
  if (texts.length === 0) return [...textBody(text, origin), ...built];
  if (text === texts.join('') || text === texts.join('\n')) return built;
  throw new RuntimeError(
    'REPLY_MALFORMED',
    'a replaced message has different texts in `content` and `parts`',
  );
}

export function createFileFinder(files: () => readonly LanguageModelV4FilePart[]): FindFile {
  let known: ReadonlyMap<string, LanguageModelV4FilePart> | undefined;
  return (part) => {
    known ??= new Map(files().map((file) => [keyOf(describeBodyPart(file)), file]));
    return known.get(keyOf(part));
  };
}

/** Omits the text: a filter may change it, and the file is still the same. */
function keyOf({ text: _, ...file }: PlainObject): string {
  return canonicalJson(file);
}

function requireParts(parts: unknown): readonly PlainObject[] | undefined {
  if (parts === undefined || parts === null) return undefined;
  if (Array.isArray(parts) && parts.every(isObject)) return parts;
  throw new RuntimeError('REPLY_MALFORMED', 'the `parts` of a replaced message are not a list of objects');
}

function textBody(text: string, { body, keepsOptions }: BodyOrigin): readonly BodyPart[] {
  if (text === '') return [];
  const [only, ...others] = body.filter((part) => part.type === 'text');
  if (only === undefined || others.length > 0 || !keepsOptions) return [{ type: 'text', text }];
  return [{ ...only, text }];
}

function rebuildPart(
  part: PlainObject,
  index: number,
  { body, findFile, keepsOptions }: BodyOrigin,
): BodyPart {
  const { type, text } = part;
  if (type === 'text') {
    if (typeof text !== 'string') {
      throw new RuntimeError('REPLY_MALFORMED', 'a text part of a replaced message has no text');
    }
    const sent = body[index];
    return sent?.type === 'text' && keepsOptions ? { ...sent, text } : { type: 'text', text };
  }
  const file = findFile(part);
  if (file === undefined) return { type: 'file', ...parseFilePart(part) };
  if (text === describeBodyPart(file).text) return file;
  if (typeof text === 'string') return withFileText(file, text);
  throw new RuntimeError('REPLY_MALFORMED', 'a document of a replaced message has lost its text');
}

type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;
export type AssistantPart = AssistantMessage['content'][number];

interface AssistantOrigin {
  readonly content: readonly AssistantPart[];
  readonly findFile: FindFile;
  /** The new part for each result of a tool that the provider ran. */
  readonly results: ReadonlyMap<AssistantPart, AssistantPart>;
}

/**
 * Unchanged parts keep their places and signatures. Changed parts replace the old ones, without provider metadata,
 * which may refer to the old text. Throws REPLY_MALFORMED.
 */
export function rebuildAssistant(message: PlainObject, origin: AssistantOrigin): AssistantMessage {
  const { content, findFile, results } = origin;
  const oldBody = content.filter((part) => part.type === 'text' || part.type === 'file');
  const body = rebuildBody(message, { body: oldBody, findFile, keepsOptions: false });
  const oldReasoning = content.filter((part) => part.type === 'reasoning' || part.type === 'reasoning-file');
  const reasoning = rebuildReasoning(message['reasoning'], oldReasoning);
  const oldCalls = content.filter((part) => part.type === 'tool-call');
  const calls = matchParts(readCalls(message['tool_calls']), oldCalls, callMatching);
  const kept = [
    ...calls.kept,
    ...[...results].map(([old, part]): Replacement<AssistantPart> => [old, [part]]),
  ];
  return {
    role: 'assistant',
    content: layOutParts<AssistantPart>(content, {
      body: { old: oldBody, parts: body },
      reasoning: { old: oldReasoning, parts: reasoning },
      kept,
      added: calls.added,
    }),
  };
}

export function rebuildReasoning<Part extends { readonly type: string }>(
  given: unknown,
  old: readonly Part[],
): readonly (Part | { readonly type: 'reasoning'; readonly text: string })[] {
  const text = readReasoning(given);
  const oldText = old.map((part) => (part.type === 'reasoning' && 'text' in part ? part.text : '')).join('');
  if (text === oldText) return old;
  return text === '' ? [] : [{ type: 'reasoning', text }];
}

function readReasoning(given: unknown): string {
  const text = given ?? '';
  if (typeof text === 'string') return text;
  throw new RuntimeError('REPLY_MALFORMED', 'the `reasoning` of a replaced message is not a string');
}

const callMatching: PartMatcher<ToolCallMember, LanguageModelV4ToolCallPart> = {
  matches: ({ toolCallId }, { id }) => toolCallId === id,
  change: (part, call) =>
    isSameToTheDigit(describeCall(part), call)
      ? part
      : { ...callMatching.add(call), ...(part.providerExecuted === true && { providerExecuted: true }) },
  add: ({ id, name, args }) => ({ type: 'tool-call', toolCallId: id, toolName: name, input: args }),
};

export interface ToolCallMember {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

export function readCalls(given: unknown): ToolCallMember[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) throw malformedCalls();
  return given.map((call: unknown) => {
    if (!isObject(call)) throw malformedCalls();
    const { id, name, args } = call;
    if (typeof id !== 'string' || typeof name !== 'string' || args === undefined) throw malformedCalls();
    return { id, name, args };
  });
}

function malformedCalls(): RuntimeError {
  const what = 'the `tool_calls` of a replaced message are not a list of {id, name, args}';
  return new RuntimeError('REPLY_MALFORMED', what);
}

export type Replacement<Part> = readonly [old: Part, parts: readonly Part[]];

interface ChangedParts<Part> {
  readonly old: readonly Part[];
  readonly parts: readonly Part[];
}

export function layOutParts<Part extends { readonly type: string }>(
  old: readonly Part[],
  {
    body,
    reasoning,
    kept,
    added,
  }: {
    readonly body: ChangedParts<Part>;
    readonly reasoning: ChangedParts<Part>;
    readonly kept: readonly Replacement<Part>[];
    readonly added: readonly Part[];
  },
): Part[] {
  const replacements = new Map([...replaceInPlace(body), ...replaceInPlace(reasoning), ...kept]);
  const arranged = old.flatMap((part) => replacements.get(part) ?? []);
  const addedReasoning = reasoning.old.length === 0 ? reasoning.parts : [];
  const addedBody = body.old.length === 0 ? body.parts : [];
  return [...addedReasoning, ...insertBehindReasoning(arranged, addedBody), ...added];
}

function replaceInPlace<Part>({ old, parts }: ChangedParts<Part>): Replacement<Part>[] {
  const isKept = old.length === parts.length && old.every((part, index) => part === parts[index]);
  return old.map((part, index) => [part, isKept ? [part] : index === 0 ? parts : []]);
}

function insertBehindReasoning<Part extends { readonly type: string }>(
  parts: readonly Part[],
  added: readonly Part[],
): Part[] {
  const since = parts.findIndex(({ type }) => type !== 'reasoning' && type !== 'reasoning-file');
  const at = since === -1 ? parts.length : since;
  return [...parts.slice(0, at), ...added, ...parts.slice(at)];
}

export interface PartMatcher<Entry, Part> {
  matches(part: Part, entry: Entry): boolean;
  change(part: Part, entry: Entry): Part;
  add(entry: Entry): Part;
}

/** Matches entries of a replaced message with old parts, and uses each part once. */
export function matchParts<Entry, Part>(
  entries: readonly Entry[],
  old: readonly Part[],
  { matches, change, add }: PartMatcher<Entry, Part>,
): { readonly kept: readonly Replacement<Part>[]; readonly added: readonly Part[] } {
  const kept = new Map<Part, readonly Part[]>();
  const added: Part[] = [];
  for (const entry of entries) {
    const part = old.find((candidate) => !kept.has(candidate) && matches(candidate, entry));
    if (part === undefined) added.push(add(entry));
    else kept.set(part, [change(part, entry)]);
  }
  return { kept: [...kept], added };
}

export type MetadataOwner = 'answer' | 'reasoning' | 'tool-call' | 'tool-result' | 'file';

/**
 * The provider metadata that may accompany a changed answer: known members without text, each in its own form. Anything
 * else could quote removed text, and no hook has seen it.
 */
export function keepTextlessMetadata(
  place: MetadataOwner,
  metadata: SharedV4ProviderMetadata | undefined,
): { readonly providerMetadata?: SharedV4ProviderMetadata } {
  const kept = Object.entries(metadata ?? {}).flatMap(([provider, members]) => {
    const known = keepMembers(members, textlessMembers[place][metadataFamilies[provider] ?? ''] ?? {});
    return known === undefined ? [] : [[provider, known] as const];
  });
  return kept.length === 0 ? {} : { providerMetadata: Object.fromEntries(kept) };
}

/** Tests that a string is an id, a date or encrypted, and so contains no text; or tests an object's members. */
type ValueTest = ((value: string) => boolean) | { readonly [member: string]: ValueTest };
type MemberTests = { readonly [member: string]: ValueTest };

const isId = (value: string) => /^[\w.:-]{1,128}$/.test(value);
const isDate = (value: string) => /^\d{4}-\d\d-\d\dT[\d:.]{5,18}(?:Z|[+-]\d\d:\d\d)$/.test(value);

const calledBy: MemberTests = { caller: { type: isId, toolId: isId } };
const signed: MemberTests = { thoughtSignature: isSealed };

const textlessMembers: Readonly<Record<MetadataOwner, Readonly<Record<string, MemberTests>>>> = {
  answer: { anthropic: { container: { id: isId, expiresAt: isDate } } },
  // Reasoning cannot be sent back without its signature. Anthropic rejects a round of tools without its reasoning.
  reasoning: { anthropic: { signature: isSealed, redactedData: isSealed }, google: signed },
  'tool-call': {
    anthropic: { ...calledBy, type: isId, serverName: isId, toolsetName: isId },
    google: { ...signed, serverToolCallId: isId, serverToolType: isId },
  },
  'tool-result': {
    anthropic: { ...calledBy, type: isId, serverName: isId },
    google: { ...signed, serverToolCallId: isId, serverToolType: isId },
  },
  file: { google: signed },
};

const metadataFamilies: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  google: 'google',
  vertex: 'google',
  googleVertex: 'google',
};

function keepMembers(value: unknown, forms: MemberTests): Record<string, JSONValue> | undefined {
  if (!isObject(value)) return undefined;
  const kept = Object.entries(forms).flatMap(([name, form]): [string, JSONValue][] => {
    const member = value[name];
    if (typeof form === 'object') {
      const inner = keepMembers(member, form);
      return inner === undefined ? [] : [[name, inner]];
    }
    return typeof member === 'string' && form(member) ? [[name, member]] : [];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

interface Alignment {
  readonly index: number;
  readonly isSame: boolean;
}

/** Matches equal messages first, in order. Those between match by position and role if their number is the same. */
export function alignMessages(
  sent: readonly ChatMessage[],
  replaced: readonly ChatMessage[],
): (Alignment | undefined)[] {
  const aligned = findSame(sent, replaced);
  let from = 0;
  let sentFrom = 0;
  for (let to = 0; to <= replaced.length; to++) {
    const index = to === replaced.length ? sent.length : aligned[to]?.index;
    if (index === undefined) continue;
    if (index - sentFrom === to - from) {
      for (let at = from; at < to; at++) {
        const sentIndex = sentFrom + at - from;
        if (hasSameRole(sent[sentIndex], replaced[at])) aligned[at] = { index: sentIndex, isSame: false };
      }
    }
    from = to + 1;
    sentFrom = index + 1;
  }
  return aligned;
}

function findSame(sent: readonly ChatMessage[], replaced: readonly ChatMessage[]): (Alignment | undefined)[] {
  const indexesByText = new Map<string, number[]>();
  for (let index = sent.length - 1; index >= 0; index--) {
    const text = canonicalJson(sent[index]);
    const same = indexesByText.get(text);
    if (same === undefined) indexesByText.set(text, [index]);
    else same.push(index);
  }
  let next = 0;
  return replaced.map((message) => {
    const same = indexesByText.get(canonicalJson(message)) ?? [];
    let index = same.pop();
    while (index !== undefined && index < next) index = same.pop();
    if (index === undefined) return undefined;
    next = index + 1;
    return { index, isSame: true };
  });
}

function hasSameRole(sent: ChatMessage | undefined, replaced: ChatMessage | undefined): boolean {
  return sent !== undefined && sent.role === replaced?.role;
}

export function plainMessage(message: ChatMessage): Readonly<Record<string, unknown>> {
  const plain = toLossless(message);
  return isObject(plain) ? plain : {};
}
