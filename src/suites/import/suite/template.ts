import { isObject } from '../../../base/json/json.ts';

type Part = string | readonly string[];

/** Undefined unless the template has only text, comments and `{{name.member}}`. */
function partsOf(template: string): readonly Part[] | undefined {
  const parts: Part[] = [];
  let end = 0;
  const opener = /\{[{#]/g;
  // One pass, so that many unclosed tags do not cause quadratic time.
  for (let found = opener.exec(template); found !== null; found = opener.exec(template)) {
    const open = found.index;
    const isComment = template[open + 1] === '#';
    const close = template.indexOf(isComment ? '#}' : '}}', open + 2);
    if (close === -1) return undefined;
    parts.push(template.slice(end, open));
    end = close + 2;
    opener.lastIndex = end;
    if (isComment) continue;
    const path = pathOf(template.slice(open + 2, close).trim());
    if (path === undefined || path[0] === 'env') return undefined;
    parts.push(path);
  }
  parts.push(template.slice(end));
  const isPlain = parts.every((part) => typeof part !== 'string' || !/\{[{%#]/.test(part));
  return isPlain ? parts.filter((part) => part !== '') : undefined;
}

function pathOf(expression: string): readonly string[] | undefined {
  if (!/^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*|\[(?:"[^"\\]*"|'[^'\\]*'|\d+)\])*$/.test(expression))
    return undefined;
  if (/^(?:true|false|none|null|not|loop|range)$/.test(expression)) return undefined;
  return [...expression.matchAll(/[\w$]+(?=[.[]|$)|"([^"]*)"|'([^']*)'|\d+(?=\])/g)].map(
    ([whole, double, single]) => double ?? single ?? whole,
  );
}

/** The variables that a template reads; undefined if it is not plain. */
export function variablesOf(template: string): readonly string[] | undefined {
  return partsOf(template)?.flatMap((part) => (typeof part === 'string' ? [] : [part[0] ?? '']));
}

/** Converts a template to a text with `${…}` over `case.vars`; undefined if it is not plain. */
export function toExpressionText(template: string): string | undefined {
  const parts = partsOf(template);
  if (parts === undefined) return undefined;
  return parts
    .map((part) =>
      typeof part === 'string' ? escapeText(part) : `\${case.vars${part.map(member).join('')}}`,
    )
    .join('');
}

export function escapeText(text: string): string {
  return text.replaceAll('${', () => '$${');
}

export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function member(name: string): string {
  return /^\d+$/.test(name) ? `[${name}]` : `[${JSON.stringify(name)}]`;
}

/** Renders as Nunjucks does; undefined if the template is not plain. */
function renderTemplate(template: string, vars: Readonly<Record<string, unknown>>): string | undefined {
  const parts = partsOf(template);
  return parts?.map((part) => (typeof part === 'string' ? part : textOf(valueAt(vars, part)))).join('');
}

export function renderValue(value: unknown, vars: Readonly<Record<string, unknown>>): unknown {
  if (typeof value === 'string') return renderTemplate(value, vars);
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => renderValue(item, vars));
    return items.includes(undefined) ? undefined : items;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, renderValue(item, vars)] as const);
  return entries.some(([, item]) => item === undefined) ? undefined : Object.fromEntries(entries);
}

function valueAt(vars: Readonly<Record<string, unknown>>, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => {
    if (Array.isArray(value)) return value[Number(name)];
    return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }, vars);
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
