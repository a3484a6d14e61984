import { isObject } from './json.ts';

export interface Cut {
  readonly path: string;
  readonly unit: 'characters' | 'items' | 'members';
  readonly kept: number;
  readonly length: number;
}

export interface CutLimits {
  readonly characters: number;
  /** Items of a list, or members of an object. */
  readonly items: number;
}

/** Returns the same value if nothing was cut. Nesting beyond 200 levels stays as it is. */
export function cutValue<Value>(
  value: Value,
  limits: CutLimits,
): { readonly value: Value; readonly cuts: readonly Cut[] } {
  const cuts: Cut[] = [];
  const cut = cutAny(value, '', { limits, cuts, depth: 0 });
  return { value: cut as Value, cuts };
}

interface CutContext {
  readonly limits: CutLimits;
  readonly cuts: Cut[];
  readonly depth: number;
}

function cutAny(value: unknown, path: string, context: CutContext): unknown {
  if (typeof value === 'string') return cutText(value, path, context);
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  if (context.depth === DEEPEST) return value;
  const inner = { ...context, depth: context.depth + 1 };
  if (Array.isArray(value)) return cutList(value, path, inner);
  return isObject(value) ? cutMembers(value, path, inner) : value;
}

const DEEPEST = 200;

function cutText(text: string, path: string, { limits, cuts }: CutContext): string {
  if (text.length <= limits.characters) return text;
  const isPair = /[\ud800-\udbff]/.test(text.charAt(limits.characters - 1));
  const kept = isPair ? limits.characters - 1 : limits.characters;
  cuts.push({ path, unit: 'characters', kept, length: text.length });
  return text.slice(0, kept);
}

function cutList(list: readonly unknown[], path: string, context: CutContext): readonly unknown[] {
  const { limits, cuts } = context;
  const isLong = list.length > limits.items;
  if (isLong) cuts.push({ path, unit: 'items', kept: limits.items, length: list.length });
  const kept = isLong ? list.slice(0, limits.items) : list;
  const items = kept.map((item, index) => cutAny(item, `${path}[${index}]`, context));
  return isLong || items.some((item, index) => item !== list[index]) ? items : list;
}

function cutMembers(
  object: Readonly<Record<string, unknown>>,
  path: string,
  context: CutContext,
): Readonly<Record<string, unknown>> {
  const { limits, cuts } = context;
  const all = Object.entries(object);
  const isLong = all.length > limits.items;
  if (isLong) cuts.push({ path, unit: 'members', kept: limits.items, length: all.length });
  const members = all.slice(0, limits.items).map(([name, member]) => {
    const shown = name.slice(0, LONGEST_NAME);
    return [name, cutAny(member, path === '' ? shown : `${path}.${shown}`, context)] as const;
  });
  const isSame = !isLong && members.every(([name, member]) => member === object[name]);
  return isSame ? object : Object.fromEntries(members);
}

const LONGEST_NAME = 100;
