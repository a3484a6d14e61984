import { isSameToTheDigit } from '../../../../json/equal.ts';
import { isObject, stringifyJson } from '../../../../json/json.ts';
import { isJson } from '../../../../json/try-parse.ts';
import type { Edits } from '../../edits.ts';
import { unwritable } from '../../faults.ts';
import { splitChangedText } from '../../split-text.ts';
import { describeCall, describeServed, thinkingText } from './describe.ts';
import type { BlockPosition, ToldContent } from './told-content.ts';

type PlainObject = Readonly<Record<string, unknown>>;

/** Writes the tool calls of a replaced message: changed names and arguments; calls that it lacks go. Throws REPLY_MALFORMED. */
export function writeCalls(given: unknown, { calls }: ToldContent, edits: Edits): void {
  matchById(readList(given, 'tool_calls'), calls, describeCall, {
    remove: (position) => removeBlock(position, edits),
    write: ({ block }, old, entry) => {
      if (entry['name'] !== old.name) {
        const { name } = entry;
        const place = block.at('name');
        if (typeof name !== 'string' || name === '' || place === undefined)
          throw unwritable('a tool call of a replaced message has no name');
        edits.replaceText(place, name);
      }
      if (!isSameToTheDigit(entry['args'], old.args)) writeArgs(block, entry['args'], edits);
    },
  });
}

function writeArgs(block: BlockPosition['block'], args: unknown, edits: Edits): void {
  if (!isObject(args) && typeof args !== 'string')
    throw unwritable('the `args` of a replaced tool call are not an object');
  const input = block.at('input');
  if (input === undefined) edits.addMember(block, 'input', stringifyJson(args));
  else edits.replace(input, stringifyJson(args));
}

/** Writes the results of tools that the upstream has run. Throws REPLY_MALFORMED. */
export function writeServed(given: unknown, { served, calls }: ToldContent, edits: Edits): void {
  const describe = (position: BlockPosition) => describeServed(position, calls);
  matchById(readList(given, 'tool_results'), served, describe, {
    remove: (position) => removeBlock(position, edits),
    write: ({ block }, old, entry) => {
      const { content } = entry;
      const place = block.at('content');
      if (typeof content !== 'string') throw unwritable('a tool result of a replaced message has no content');
      if (
        (entry['is_error'] ?? false) !== (old.is_error ?? false) ||
        (entry['name'] ?? old.name) !== old.name
      )
        throw unwritable('a tool result of a replaced message is another one');
      if (content === old.content) return;
      if (place === undefined) edits.addMember(block, 'content', JSON.stringify(content));
      else if (place.kind === 'string') edits.replaceText(place, content);
      else if (isJson(content)) edits.replace(place, content);
      else throw unwritable('a tool result of a replaced message is no longer the JSON that it was');
    },
  });
}

interface Matching<Old> {
  readonly remove: (position: BlockPosition) => void;
  readonly write: (position: BlockPosition, old: Old, entry: PlainObject) => void;
}

/** Finds the blocks of a replaced message's entries, which have to stand in the old order. */
function matchById<Old extends { readonly id: string }>(
  given: readonly PlainObject[],
  positions: readonly BlockPosition[],
  describe: (position: BlockPosition) => Old,
  { remove, write }: Matching<Old>,
): void {
  let at = 0;
  for (const position of positions) {
    const old = describe(position);
    const entry = given[at];
    if (entry === undefined || entry['id'] !== old.id) remove(position);
    else {
      at += 1;
      write(position, old, entry);
    }
  }
  if (at < given.length) throw unwritable('a replaced message has a tool call or result that was not there');
}

/**
 * Writes the citations: changed ones at their places. Without them, those of all texts go: `emptied` says what stands in
 * their place. Throws REPLY_MALFORMED.
 */
export function writeCitations(
  given: unknown,
  { citations, citing }: ToldContent,
  edits: Edits,
  emptied: 'null' | 'absent',
): void {
  const list = readList(given, 'citations');
  if (list.length === 0) {
    if (citations.length === 0) return;
    for (const block of citing) {
      const place = block.at('citations');
      if (place === undefined) continue;
      if (emptied === 'null') edits.replace(place, 'null');
      else edits.remove(block, 'citations');
    }
    return;
  }
  if (list.length !== citations.length) throw unwritable('a replaced message has other citations');
  for (const [index, { place }] of citations.entries()) {
    if (!isSameToTheDigit(list[index], place.json)) edits.replace(place, stringifyJson(list[index]));
  }
}

/** Takes out the thinking that was changed: it is signed, so it stays as it is or goes. Without reasoning all of it goes. */
export function writeReasoning(given: unknown, { thinking, redacted }: ToldContent, edits: Edits): void {
  if (given !== undefined && given !== null && typeof given !== 'string')
    throw unwritable('the `reasoning` of a replaced message is no text');
  const old = thinking.map(thinkingText);
  const text = given ?? '';
  if (text === old.join('')) return;
  const changed = splitChangedText(old, text);
  for (const [index, position] of thinking.entries()) {
    if (text === '' || changed[index] !== old[index]) removeBlock(position, edits);
  }
  if (text === '') for (const position of redacted) removeBlock(position, edits);
  if (thinking.length === 0) throw unwritable('a replaced message has a reasoning that was not there');
}

function removeBlock({ owner, entry }: BlockPosition, edits: Edits): void {
  edits.remove(owner, entry);
}

function readList(given: unknown, member: string): readonly PlainObject[] {
  if (given === undefined || given === null) return [];
  if (Array.isArray(given) && given.every(isObject)) return given;
  throw unwritable(`the \`${member}\` of a replaced message are not a list of objects`);
}
