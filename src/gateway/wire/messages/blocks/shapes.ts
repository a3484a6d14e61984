import { isSealed } from '../../../../text/sealed.ts';
import { Leftovers } from '../../leftovers.ts';
import type { Place } from '../../place.ts';
import { isPlainId } from '../../plain-id.ts';

/**
 * What a value may be without being shown in `other`: nothing that people or models have said. Hooks see a `text` elsewhere, as
 * long as it is a string. `told` is a value of any type that its reader shows whole or refuses; `said` is always shown in
 * `other`. Null is part of every shape.
 */
export type Shape =
  | 'told'
  | 'text'
  | 'said'
  | 'figure'
  | 'id'
  | 'date'
  | 'sealed'
  | Words
  | MembersShape
  | ItemsShape;

/** Words of the protocol itself. */
export interface Words {
  readonly words: ReadonlySet<string>;
}

export interface MembersShape {
  readonly members: Readonly<Record<string, Shape>>;
}

interface ItemsShape {
  readonly items: Shape;
}

export function words(...list: readonly string[]): Words {
  return { words: new Set(list) };
}

/** Where a value stands: what it is a member or element of, and its path for people. */
interface ShapedValue {
  readonly place: Place;
  readonly owner: Place;
  readonly entry: string | number;
  readonly path: string;
}

/** Adds to the leftovers what of an object has not the shape: unknown members, and values that may be text. */
export function collectLeftovers(
  object: Place,
  { members }: MembersShape,
  path: string,
  leftovers: Leftovers,
): void {
  for (const [entry, place] of object.members) {
    const value = { place, owner: object, entry, path: joinPath(path, entry) };
    const shape = Object.hasOwn(members, entry) ? members[entry] : undefined;
    if (shape === undefined) leftovers.add(value.path, value);
    else collectValue(value, shape, leftovers);
  }
}

function collectValue(value: ShapedValue, shape: Shape, leftovers: Leftovers): void {
  const { place, path } = value;
  if (shape === 'told' || place.kind === 'null') return;
  if (typeof shape === 'string') {
    if (!scalarTests[shape](place)) leftovers.add(path, value);
  } else if ('words' in shape) {
    if (place.text === undefined || !shape.words.has(place.text)) leftovers.add(path, value);
  } else if ('members' in shape && place.kind === 'object') collectLeftovers(place, shape, path, leftovers);
  else if ('items' in shape && place.kind === 'array') collectItems(place, shape.items, path, leftovers);
  else leftovers.add(path, value);
}

function collectItems(list: Place, shape: Shape, path: string, leftovers: Leftovers): void {
  for (const [entry, place] of list.items.entries()) {
    collectValue({ place, owner: list, entry, path: `${path}[${entry}]` }, shape, leftovers);
  }
}

/** Whether an object has the shape, so that hooks need not see any of it. */
export function isOfShape(object: Place, shape: MembersShape): boolean {
  const leftovers = new Leftovers();
  collectLeftovers(object, shape, '', leftovers);
  return leftovers.isEmpty;
}

const scalarTests: Readonly<
  Record<'text' | 'said' | 'figure' | 'id' | 'date' | 'sealed', (place: Place) => boolean>
> = {
  text: ({ kind }) => kind === 'string',
  said: () => false,
  figure: ({ kind }) => kind === 'number' || kind === 'boolean',
  id: ({ text }) => text !== undefined && isPlainId(text),
  date: ({ text }) => text !== undefined && /^\d{4}-\d\d-\d\dT[\d:.]{5,18}(?:Z|[+-]\d\d:\d\d)$/.test(text),
  sealed: ({ text }) => text === '' || (text !== undefined && isSealed(text)),
};

function joinPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
