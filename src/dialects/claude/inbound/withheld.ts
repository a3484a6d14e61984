import { isObject } from '../../../base/json/json.ts';
import { resultTypes } from '../published.ts';

/**
 * Replaces a tool's result by one of its published type that keeps only literals of the type, flags and null. Undefined
 * if the type is unknown. Claude Code drops a result of any other form, and the model then reads the original.
 */
export function withholdResult(
  tool: string,
  result: unknown,
  text: string,
): { readonly result: unknown } | undefined {
  const type = typeOf(tool);
  if (type === undefined) return undefined;
  const filled = fill(type, result, text);
  return { result: filled === misfit ? blank(type, text) : filled };
}

/** True for a tool without a published result type. */
export function fitsResultType(tool: string, result: unknown): boolean {
  const type = typeOf(tool);
  return type === undefined || fits(type, result);
}

function typeOf(tool: string): ResultType | undefined {
  const name = tool.startsWith('mcp__') ? 'mcp__*' : tool;
  const code = Object.hasOwn(resultTypes, name) ? resultTypes[name] : undefined;
  return code === undefined ? undefined : parseType(code);
}

type ResultType =
  | { readonly kind: 'string' | 'number' | 'boolean' | 'null' | 'unknown' }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'list'; readonly item: ResultType }
  | { readonly kind: 'tuple'; readonly items: readonly ResultType[]; readonly rest?: ResultType }
  | { readonly kind: 'object'; readonly members: readonly Member[]; readonly isOpen: boolean }
  | { readonly kind: 'union'; readonly options: readonly ResultType[] };

interface Member {
  readonly key: string;
  readonly isOptional: boolean;
  readonly type: ResultType;
}

const misfit = Symbol('misfit');

function fill(type: ResultType, value: unknown, text: string): unknown {
  switch (type.kind) {
    case 'string':
      return typeof value === 'string' ? (value === '' ? '' : text) : misfit;
    case 'number':
      return typeof value === 'number' || JSON.isRawJSON(value) ? 0 : misfit;
    case 'unknown':
      return null;
    case 'boolean':
    case 'null':
    case 'literal':
      return fits(type, value) ? value : misfit;
    case 'list': {
      if (!Array.isArray(value)) return misfit;
      // One item suffices to show the reason, and hides how many there were.
      const items = value.slice(0, 1).map((item) => fill(type.item, item, text));
      if (type.item.kind === 'unknown') return [];
      return items.includes(misfit) ? misfit : items;
    }
    case 'tuple': {
      if (!Array.isArray(value) || value.length < type.items.length) return misfit;
      if (value.length > type.items.length && type.rest === undefined) return misfit;
      const items = type.items.map((item, index) => fill(item, value[index], text));
      return items.includes(misfit) ? misfit : items;
    }
    case 'object': {
      if (!isObject(value) || type.isOpen) return misfit;
      const members = type.members.flatMap(({ key, isOptional, type: own }): [string, unknown][] => {
        const filled = Object.hasOwn(value, key) && !isEncoded(key) ? fill(own, value[key], text) : misfit;
        return filled === misfit && isOptional ? [] : [[key, filled]];
      });
      return members.some(([, filled]) => filled === misfit) ? misfit : Object.fromEntries(members);
    }
    case 'union': {
      const filled = type.options.map((option) => fill(option, value, text));
      return filled.find((each) => each !== misfit) ?? misfit;
    }
  }
}

function blank(type: ResultType, text: string): unknown {
  switch (type.kind) {
    case 'string':
      return text;
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'null':
    case 'unknown':
      return null;
    case 'literal':
      return type.value;
    case 'list':
      return [];
    case 'tuple':
      return type.items.map((item) => blank(item, text));
    case 'object':
      return Object.fromEntries(
        type.members
          .filter(({ isOptional }) => !isOptional)
          .map(({ key, type: own }): [string, unknown] => [key, blank(own, text)]),
      );
    case 'union': {
      const option = type.options.find((each) => !holdsEncoded(each)) ?? type.options[0];
      return option === undefined ? null : blank(option, text);
    }
  }
}

/** Encoded data, which a replacement text would break. Such a result gets another form of the type. */
function isEncoded(key: string): boolean {
  return key === 'base64' || key === 'isImage';
}

function holdsEncoded(type: ResultType): boolean {
  return (
    type.kind === 'object' &&
    type.members.some(
      ({ key, isOptional, type: own }) => !isOptional && (isEncoded(key) || holdsEncoded(own)),
    )
  );
}

function fits(type: ResultType, value: unknown): boolean {
  switch (type.kind) {
    case 'string':
    case 'boolean':
      return typeof value === type.kind;
    case 'number':
      return typeof value === 'number' || JSON.isRawJSON(value);
    case 'null':
      return value === null;
    case 'unknown':
      return true;
    case 'literal':
      return value === type.value;
    case 'list':
      return Array.isArray(value) && value.every((item) => fits(type.item, item));
    case 'tuple':
      return (
        Array.isArray(value) &&
        value.length >= type.items.length &&
        type.items.every((item, index) => fits(item, value[index])) &&
        value.slice(type.items.length).every((item) => type.rest !== undefined && fits(type.rest, item))
      );
    case 'object':
      return (
        isObject(value) &&
        type.members.every(({ key, isOptional, type: own }) =>
          Object.hasOwn(value, key) ? fits(own, value[key]) : isOptional,
        )
      );
    case 'union':
      return type.options.some((option) => fits(option, value));
  }
}

/** Reads a type of `published.ts`: literals, lists, tuples, objects and unions of them. Throws TypeError. */
export function parseType(code: string): ResultType {
  const tokens = code.match(/"(?:[^"\\]|\\.)*"|\[\]|\.{3}|[\w$-]+|[{}[\]():;,|?]/g) ?? [];
  let at = 0;
  const take = (expected?: string): string => {
    const token = tokens[at];
    if (token === undefined || (expected !== undefined && token !== expected))
      throw new TypeError(`${expected ?? 'a type'} is missing in ${code.slice(0, 80)} at token ${at}`);
    at += 1;
    return token;
  };
  const skip = (token: string): boolean => {
    if (tokens[at] !== token) return false;
    at += 1;
    return true;
  };
  const union = (): ResultType => {
    skip('|');
    const options = [suffixed()];
    while (skip('|')) options.push(suffixed());
    const [only] = options;
    return options.length === 1 && only !== undefined ? only : { kind: 'union', options };
  };
  const suffixed = (): ResultType => {
    let type = single();
    while (skip('[]')) type = { kind: 'list', item: type };
    return type;
  };
  const single = (): ResultType => {
    const token = take();
    if (token === '(') {
      const inner = union();
      take(')');
      return inner;
    }
    if (token === '{') return object();
    if (token === '[') {
      const items: ResultType[] = [];
      let rest: ResultType | undefined;
      do {
        if (!skip('...')) items.push(union());
        else {
          const list = union();
          rest = list.kind === 'list' ? list.item : list;
        }
      } while (skip(','));
      take(']');
      return { kind: 'tuple', items, ...(rest !== undefined && { rest }) };
    }
    if (token === '[]') return { kind: 'tuple', items: [] };
    if (token.startsWith('"')) return { kind: 'literal', value: String(JSON.parse(token)) };
    if (token === 'true' || token === 'false') return { kind: 'literal', value: token === 'true' };
    if (/^-?\d/.test(token)) return { kind: 'literal', value: Number(token) };
    if (token === 'undefined') return { kind: 'null' };
    if (token === 'string' || token === 'number' || token === 'boolean' || token === 'null')
      return { kind: token };
    if (token === 'unknown') return { kind: 'unknown' };
    throw new TypeError(`the type ${token} is not known`);
  };
  const object = (): ResultType => {
    const members: Member[] = [];
    let isOpen = false;
    while (!skip('}')) {
      if (skip('[')) {
        for (const part of ['k', ':', 'string', ']', ':']) take(part);
        union();
        isOpen = true;
      } else {
        const name = take();
        const key = name.startsWith('"') ? String(JSON.parse(name)) : name;
        const isOptional = skip('?');
        take(':');
        members.push({ key, isOptional, type: union() });
      }
      skip(';');
    }
    return { kind: 'object', members, isOpen };
  };
  const type = union();
  if (at !== tokens.length) throw new TypeError(`there is more behind the type in ${code.slice(0, 80)}`);
  return type;
}
