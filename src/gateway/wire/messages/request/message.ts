import type { ChatMessage } from '../../../../contract/provider.ts';
import type { Place } from '../../place.ts';
import { readBlock } from '../blocks/block-reader.ts';
import { textPart } from '../blocks/body-part.ts';
import { describeTold } from '../blocks/describe.ts';
import type { ReadContext } from '../blocks/read-context.ts';
import { collectLeftovers, words } from '../blocks/shapes.ts';
import { startTold, type ToldContent } from '../blocks/told-content.ts';
import { type FindCall, readToolResult, type ToolResultBlock } from './tool-result.ts';

/** A payload message, and where it stands in the body. */
export interface RequestMessage {
  readonly message: ChatMessage;
  readonly told: ToldContent;
  /** The index of the body's message that it is, or is a part of. */
  readonly wire: number;
  /** The blocks that it consists of; undefined for a message that has no list of them. */
  readonly entries: readonly number[] | undefined;
  /** Where it stands, for people. */
  readonly place: string;
  /** Of a message that is a tool's result: its block. */
  readonly result: ToolResultBlock | undefined;
}

/**
 * The payload messages of one message of the body: each result of a tool is one of its own, as is what stands between
 * two of them.
 */
export function readRequestMessage(
  source: { readonly object: Place; readonly wire: number },
  context: ReadContext,
  findCall: FindCall,
): RequestMessage[] {
  const { object, wire } = source;
  const path = `messages[${wire}]`;
  const role = readRole(object, path, context);
  const content = object.at('content');
  const read =
    content?.kind === 'array'
      ? readList({ list: content, role, wire, path }, context, findCall)
      : [readPlain({ content, role, wire, path }, context)];
  // What the message itself has beside its content is told with its first part.
  const [first] = read;
  if (first === undefined) return read;
  collectLeftovers(object, messageShape, '', first.told.leftovers);
  return [withOther(first), ...read.slice(1)];
}

const messageShape = {
  members: { role: 'told', content: 'told', clear_at: words('next_user_message', 'never') },
} as const;

type Role = 'user' | 'assistant' | 'system';

function readRole(object: Place, path: string, { malformed }: ReadContext): Role {
  const role = object.at('role')?.text;
  if (role === 'user' || role === 'assistant' || role === 'system') return role;
  throw malformed(`${path}.role`);
}

interface PlainContent {
  readonly content: Place | undefined;
  readonly role: Role;
  readonly wire: number;
  readonly path: string;
}

function readPlain({ content, role, wire, path }: PlainContent, { malformed }: ReadContext): RequestMessage {
  if (content !== undefined && content.kind !== 'string') throw malformed(`${path}.content`);
  if (content === undefined && role !== 'system') throw malformed(`${path}.content`);
  const told = startTold(undefined);
  if (content !== undefined) told.body.push(textPart(content, undefined));
  const message = { role, ...describeTold(told) };
  return { message, told, wire, entries: undefined, place: path, result: undefined };
}

interface ListContent {
  readonly list: Place;
  readonly role: Role;
  readonly wire: number;
  readonly path: string;
}

function readList(source: ListContent, context: ReadContext, findCall: FindCall): RequestMessage[] {
  const { list, role, wire, path } = source;
  const read: RequestMessage[] = [];
  let run: number[] = [];
  const closeRun = () => {
    if (run.length > 0) read.push(readRun(source, run, context));
    run = [];
  };
  for (const [entry, block] of list.items.entries()) {
    if (block.at('type')?.text !== 'tool_result') run.push(entry);
    else {
      closeRun();
      const place = `${path}.content[${entry}]`;
      const { told, message, result } = readToolResult({ block, place }, context, findCall);
      read.push({ message, told, wire, entries: [entry], place, result });
    }
  }
  closeRun();
  if (read.length > 0) return read;
  const told = startTold(list);
  return [{ message: { role, content: '' }, told, wire, entries: [], place: path, result: undefined }];
}

function readRun(
  { list, role, wire, path }: ListContent,
  entries: readonly number[],
  context: ReadContext,
): RequestMessage {
  const told = startTold(list, entries[0]);
  for (const entry of entries) {
    const block = list.items[entry];
    const at = `content[${entry}]`;
    if (block !== undefined)
      readBlock({ block, owner: list, entry, path: at, fullPath: `${path}.${at}` }, told, context);
  }
  const isWhole = entries.length === list.items.length;
  const place = isWhole ? path : `${path}.content[${entries[0]}]`;
  return { message: { role, ...describeTold(told) }, told, wire, entries, place, result: undefined };
}

function withOther(first: RequestMessage): RequestMessage {
  const { json } = first.told.leftovers;
  return json === undefined ? first : { ...first, message: { ...first.message, other: json } };
}
