export interface Link {
  /** `image`: loaded by a page without a click. */
  readonly kind: 'image' | 'link';
  /** The whole construct, `![alt](address)`. */
  readonly start: number;
  readonly end: number;
  readonly address: string;
  readonly label: string | undefined;
}

/** Longer addresses are cut; their rest counts as data. */
const LONGEST = 8192;

/** Yields every address of Markdown, HTML and CSS, and bare ones. Keeps overlaps. Linear in the length of the text. */
export function* findLinks(text: string): Generator<Link> {
  yield* findMarkdown(text);
  yield* findReferences(text);
  yield* findAttributes(text);
  yield* findBare(text);
}

interface Pending {
  readonly from: number;
  readonly labelEnd: number;
  start: number;
  end: number | undefined;
}

/** Parses `[label](address)` and `![alt](<address> "title")` in one pass; unclosed brackets cost nothing. */
function* findMarkdown(text: string): Generator<Link> {
  const brackets: number[] = [];
  const pending: (Pending | undefined)[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === OPEN) push(brackets, at);
    else if (code === CLOSE) {
      const from = brackets.pop();
      if (from === undefined || text[at + 1] !== '(') continue;
      const begun = beginTarget(text, { from, labelEnd: at, start: at + 2, end: undefined });
      push(pending, begun);
      at = (begun.end ?? begun.start) - 1;
    } else if (code === OPEN_PARENTHESIS) push(pending, undefined);
    else if (code === CLOSE_PARENTHESIS) {
      const target = pending.pop();
      if (target !== undefined) yield toLink(text, target, at);
    } else if (code <= SPACE) {
      const target = pending.at(-1);
      if (target !== undefined) target.end ??= at;
    }
  }
}

const [BACKSLASH, OPEN, CLOSE, OPEN_PARENTHESIS, CLOSE_PARENTHESIS, SPACE] = [
  0x5c, 0x5b, 0x5d, 0x28, 0x29, 0x20,
];
const SHORT = 65;
const MOST_OPEN = 32;

function push<Value>(stack: Value[], value: Value): void {
  stack.push(value);
  if (stack.length > MOST_OPEN) stack.shift();
}

function beginTarget(text: string, target: Pending): Pending {
  const near = text.slice(target.start, target.start + SHORT);
  const space = /^[\s\u200b-\u200f\u2060\ufeff]{0,64}/.exec(near)?.[0].length ?? 0;
  const start = target.start + space;
  if (near[space] !== '<') return { ...target, start };
  const inside = /^<[^<>\s]{0,8192}(?=>)/.exec(text.slice(start, start + LONGEST))?.[0];
  return inside === undefined
    ? { ...target, start }
    : { ...target, start: start + 1, end: start + inside.length };
}

function toLink(text: string, { from, labelEnd, start, end }: Pending, at: number): Link {
  const isImage = text[from - 1] === '!';
  return {
    kind: isImage ? 'image' : 'link',
    start: isImage ? from - 1 : from,
    end: at + 1,
    address: text.slice(start, Math.min(end ?? at, start + LONGEST)),
    label: text.slice(from + 1, labelEnd),
  };
}

/** Parses `[label]: address` lines. Any of them may belong to an image, so all count as images. */
function* findReferences(text: string): Generator<Link> {
  for (const { 0: whole, 1: address = '', index } of text.matchAll(reference)) {
    yield { kind: 'image', start: index, end: index + whole.length, address: unbracket(address), label: '' };
  }
}

const reference = /^[ >]{0,8}\[[^\]\n]{1,200}\]:[ \t]{0,8}\n?[ \t]{0,8}(\S{1,8192})/gm;

function unbracket(address: string): string {
  return address.startsWith('<') && address.endsWith('>') ? address.slice(1, -1) : address;
}

/** Parses `src="…"`, `href='…'` and `url(…)`. Addresses that a page loads count as images. */
function* findAttributes(text: string): Generator<Link> {
  const ends = { '"': nextIndex(text, '"'), "'": nextIndex(text, "'"), ')': nextIndex(text, ')') };
  for (const { 0: opener, 1: name = 'url', index } of text.matchAll(attribute)) {
    const at = index + opener.length;
    const quote = /["']$/.exec(opener)?.[0] ?? (opener.endsWith('(') ? ')' : undefined);
    const known = quote === '"' || quote === "'" || quote === ')' ? ends[quote](at) : undefined;
    const bare = known === undefined ? /^[^\s"'>]*/.exec(text.slice(at, at + LONGEST))?.[0].length : 0;
    const end = Math.min(known ?? at + (bare ?? 0), at + LONGEST);
    const kind = /^(?:href|action|formaction|xlink:href)$/i.test(name) ? 'link' : 'image';
    const addresses = /srcset$/i.test(name) ? text.slice(at, end).split(/,\s/) : [text.slice(at, end)];
    for (const address of addresses) {
      yield { kind, start: index, end, address: address.trim(), label: '' };
    }
  }
}

const attribute =
  /(?:(?<![\w-])(src|srcset|href|xlink:href|poster|background|data|action|formaction|ping|imagesrcset)\s{0,8}=\s{0,8}["']?|(?<![\w-])url\(\s{0,8}["']?)/gi;

/** Reads the text once if called with rising positions. */
function nextIndex(text: string, character: string): (from: number) => number {
  let found = -1;
  return (from) => {
    if (found < from) {
      const at = text.indexOf(character, from);
      found = at === -1 ? text.length : at;
    }
    return found;
  };
}

function* findBare(text: string): Generator<Link> {
  let from = 0;
  for (const { 0: scheme, index } of text.matchAll(bareScheme)) {
    if (index < from) continue;
    const run = /^[^\s<>"'`|]*/.exec(text.slice(index, index + LONGEST))?.[0] ?? scheme;
    const address = trimEnd(run);
    from = index + Math.max(address.length, scheme.length);
    yield { kind: 'link', start: index, end: index + address.length, address, label: undefined };
  }
}

const bareScheme = /(?<![a-z0-9+.-])(?:https?|wss?|ftp):\/{1,2}/gi;

function balanced(address: string): number {
  let depth = 0;
  for (let at = 0; at < address.length; at++) {
    if (address[at] === '(') depth += 1;
    else if (address[at] === ')' && depth-- === 0) return at;
  }
  return address.length;
}

function trimEnd(run: string): string {
  const trimmed = run.replace(/[.,;:!?*_\]}]+$/, '');
  return trimmed.slice(0, balanced(trimmed));
}
