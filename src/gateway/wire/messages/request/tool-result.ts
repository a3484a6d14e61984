import type { ChatMessage } from '../../../../contract/provider.ts';
import type { Edits } from '../../edits.ts';
import { unwritable } from '../../faults.ts';
import type { Place } from '../../place.ts';
import { findBlockKind } from '../blocks/block-kinds.ts';
import { readBlocks } from '../blocks/block-reader.ts';
import { textPart } from '../blocks/body-part.ts';
import { describeTold } from '../blocks/describe.ts';
import { type ReadContext, requireString } from '../blocks/read-context.ts';
import { collectLeftovers } from '../blocks/shapes.ts';
import { startTold, type ToldContent } from '../blocks/told-content.ts';

/** How the results of a request find the calls that they answer: their blocks, by id. */
export type FindCall = (id: string) => Place | undefined;

/** The block of a result that the client sends back. */
export interface ToolResultBlock {
  readonly block: Place;
  readonly callId: string;
  /** The block of its call in the same request. */
  readonly call: Place | undefined;
  readonly isError: boolean;
}

interface ReadResult {
  readonly message: ChatMessage;
  readonly told: ToldContent;
  readonly result: ToolResultBlock;
}

/** A result of a tool as a message of its own. */
export function readToolResult(
  { block, place }: { readonly block: Place; readonly place: string },
  context: ReadContext,
  findCall: FindCall,
): ReadResult {
  const callId = requireString({ block, fullPath: place }, 'tool_use_id', context).text ?? '';
  const call = findCall(callId);
  const content = block.at('content');
  const told = startTold(content?.kind === 'array' ? content : undefined);
  readContent(content, told, place, context);
  const kind = findBlockKind('tool_result');
  if (kind !== undefined) collectLeftovers(block, kind, '', told.leftovers);
  const isError = block.at('is_error')?.kind === 'boolean' && block.at('is_error')?.value === true;
  const described = describeTold(told);
  const name = call?.at('name')?.text ?? '';
  const result = { id: callId, name, ...(isError && { error: described.content }) };
  return {
    message: { role: 'tool', ...described, tool_result: result },
    told,
    result: { block, callId, call, isError },
  };
}

function readContent(
  content: Place | undefined,
  told: ToldContent,
  place: string,
  context: ReadContext,
): void {
  if (content === undefined || content.kind === 'null') return;
  const fullPath = `${place}.content`;
  if (content.kind === 'string') told.body.push(textPart(content, undefined));
  else if (content.kind === 'array') readBlocks({ list: content, path: 'content', fullPath }, told, context);
  else throw context.malformed(fullPath);
}

/** Writes what a replaced message says of the result beside its text. Throws REPLY_MALFORMED. */
export function writeToolResult(
  given: unknown,
  { block, callId, isError }: ToolResultBlock,
  edits: Edits,
): void {
  if (typeof given !== 'object' || given === null)
    throw unwritable('a replaced tool message has no `tool_result`');
  const id: unknown = Reflect.get(given, 'id');
  const error: unknown = Reflect.get(given, 'error');
  if (id !== callId) throw unwritable('a replaced tool message is the result of another call');
  const isErrorNow = error !== undefined && error !== null;
  if (isErrorNow === isError) return;
  const flag = block.at('is_error');
  if (flag === undefined) edits.addMember(block, 'is_error', String(isErrorNow));
  else edits.replace(flag, String(isErrorNow));
}
