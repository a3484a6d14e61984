import { isSameToTheDigit } from '../../../json/equal.ts';
import type { Json } from '../../../json/json.ts';
import { readCalls, type ToolCallMember } from '../../../provider/messages/rebuilt-assistant.ts';
import type { Edits } from '../edits.ts';
import { unwritable } from '../faults.ts';
import type { Place } from '../place.ts';
import { argsOfText, textOfArgs } from '../tool-args.ts';
import type { ReadContext } from './read-context.ts';

/** A tool call as hooks are told of it. */
export interface ToldCall {
  readonly id: string;
  readonly name: string;
  readonly args: Json;
}

/** The tool calls of a message, with those of the older form `function_call`, which have no id, at the end. */
export interface ToolCalls {
  readonly told: readonly ToldCall[];
  /** Writes what a hook made of `tool_calls`. Throws REPLY_MALFORMED. */
  write(changed: unknown, edits: Edits): void;
}

interface SentCall {
  readonly told: ToldCall;
  readonly name: Place | undefined;
  readonly args: Place | undefined;
  /** What it is taken out of, and its index or key there. */
  readonly owner: Place;
  readonly entry: string | number;
}

export function readToolCalls(message: Place, context: ReadContext): ToolCalls {
  const list = message.at('tool_calls');
  if (list !== undefined && list.kind !== 'array' && list.kind !== 'null') {
    throw context.side.invalid('is no list', `${context.at}.tool_calls`);
  }
  const calls = (list?.items ?? []).flatMap((place, index) => readCall(place, { list, index, context }));
  const legacy = message.at('function_call');
  if (legacy !== undefined && legacy.kind !== 'null') calls.push(readLegacyCall(legacy, message, context));
  const sent = calls.filter((call) => call !== undefined);
  return {
    told: sent.map(({ told }) => told),
    write: (changed, edits) => writeCalls(readCalls(changed), { sent, message, list }, edits),
  };
}

interface CallPlace {
  readonly list: Place | undefined;
  readonly index: number;
  readonly context: ReadContext;
}

/** Empty for an opaque call. */
function readCall(place: Place, { list, index, context }: CallPlace): SentCall[] {
  const path = `tool_calls[${index}]`;
  const where = `${context.at}.${path}`;
  const type = typeOf(place);
  if (type !== 'function' && type !== 'custom') {
    if (type === undefined || !context.rules.opaque.has(type)) throw context.side.unknown(type, where);
    return [];
  }
  const held = place.at(type);
  const argsKey = type === 'function' ? 'arguments' : 'input';
  const id = place.at('id');
  const isIdTold = id === undefined || id.text !== undefined;
  const toldOfCall = {
    has: (key: string) => key === 'type' || key === type || (key === 'id' && isIdTold) || isIndex(place, key),
  };
  context.leftovers.addMembers(place, toldOfCall, path);
  const names = readNames(held, { argsKey, path: `${path}.${type}`, where, context });
  const told = {
    id: id?.text ?? '',
    name: names.name?.text ?? '',
    args: type === 'function' ? argsOfPlace(names.args) : argsOfCustom(names.args),
  };
  return list === undefined ? [] : [{ told, ...names, owner: list, entry: index }];
}

/** Some servers leave the type of a function out. */
function typeOf(place: Place): string | undefined {
  const type = place.at('type');
  if (type !== undefined && type.kind !== 'null') return type.text;
  return place.at('function') === undefined ? undefined : 'function';
}

/** A number that says where it belongs is nothing to read. */
function isIndex(place: Place, key: string): boolean {
  return key === 'index' && place.at(key)?.kind === 'number';
}

function readLegacyCall(place: Place, message: Place, context: ReadContext): SentCall {
  const path = 'function_call';
  const names = readNames(place, { argsKey: 'arguments', path, where: `${context.at}.${path}`, context });
  const told = { id: '', name: names.name?.text ?? '', args: argsOfPlace(names.args) };
  return { told, ...names, owner: message, entry: path };
}

interface NamesPlace {
  readonly argsKey: string;
  readonly path: string;
  readonly where: string;
  readonly context: ReadContext;
}

/** Arguments that are an object, as some servers send them, are read as that. */
function readNames(held: Place | undefined, { argsKey, path, where, context }: NamesPlace) {
  if (held?.kind !== 'object') throw context.side.invalid('is no tool call', where);
  const name = held.at('name');
  const args = held.at(argsKey);
  const isNamed = name === undefined || name.text !== undefined || name.kind === 'null';
  if (!isNamed) throw context.side.invalid('has a name that is no text', where);
  context.leftovers.addMembers(held, { has: (key) => key === 'name' || key === argsKey }, path);
  return { name, args };
}

function argsOfPlace(place: Place | undefined): Json {
  return place === undefined
    ? argsOfText('')
    : place.text === undefined
      ? place.json
      : argsOfText(place.text);
}

/** The input of a custom tool is a text, whatever it looks like. */
function argsOfCustom(place: Place | undefined): Json {
  return argsOfPlace(place);
}

interface SentCalls {
  readonly sent: readonly SentCall[];
  readonly message: Place;
  readonly list: Place | undefined;
}

/** Calls of the same id, in order, are the same call with other names or arguments; the others go. */
function writeCalls(
  given: readonly ToolCallMember[],
  { sent, message, list }: SentCalls,
  edits: Edits,
): void {
  let next = 0;
  let kept = 0;
  for (const call of given) {
    const found = findCall(sent, call.id, next);
    if (found === -1) {
      if (list === undefined || list.kind !== 'array')
        edits.addMember(message, 'tool_calls', `[${newCall(call)}]`);
      else edits.insert(list, newCall(call));
      kept += 1;
      continue;
    }
    for (const gone of sent.slice(next, found)) edits.remove(gone.owner, gone.entry);
    changeCall(sent[found], call, edits);
    kept += sent[found]?.owner === list ? 1 : 0;
    next = found + 1;
  }
  for (const gone of sent.slice(next)) edits.remove(gone.owner, gone.entry);
  // An empty list is refused by the APIs.
  if (kept === 0 && list !== undefined && list.items.length > 0) edits.remove(message, 'tool_calls');
}

/** The index of the call with that id, from `from` on; -1 when there is none. */
function findCall(sent: readonly SentCall[], id: string, from: number): number {
  for (let index = from; index < sent.length; index += 1) if (sent[index]?.told.id === id) return index;
  return -1;
}

function changeCall(old: SentCall | undefined, { name, args }: ToolCallMember, edits: Edits): void {
  if (old === undefined) return;
  if (name !== old.told.name) {
    if (old.name === undefined) throw unwritable('a replaced message names a tool call that had no name');
    edits.replace(old.name, JSON.stringify(name));
  }
  if (isSameToTheDigit(args, old.told.args)) return;
  if (old.args === undefined)
    throw unwritable('a replaced message has arguments for a tool call that had none');
  if (old.args.text === undefined) edits.replaceWhole(old.args, JSON.stringify(args));
  else edits.replace(old.args, JSON.stringify(textOfArgs(args)));
}

function newCall({ id, name, args }: ToolCallMember): string {
  return JSON.stringify({ id, type: 'function', function: { name, arguments: textOfArgs(args) } });
}
