/** A `${env:NAME}` or `${env:NAME:-default}` of a text. */
export interface Reference {
  readonly name: string;
  /** What stands for a variable that is not set, or empty; never filled in itself. */
  readonly fallback: string | undefined;
}

/** A text in its parts: what stands as it is, references, and what begins like one and is none, as the file spells it. */
export type TextPart = string | Reference | { readonly broken: string };

/** The parts of a text; `$${env:…}` stands for `${env:…}` itself. */
export function splitText(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: match, 1: dollar, 2: inner = '', 3: close, index } of text.matchAll(referencePattern)) {
    parts.push(text.slice(end, index));
    end = index + match.length;
    if (dollar === '$') parts.push(match.slice(1));
    else parts.push(close === '}' ? parseInner(inner, match) : { broken: match });
  }
  parts.push(text.slice(end));
  return parts.filter((part) => part !== '');
}

/** The text without its references: what else it holds. */
export function withoutReferences(text: string): string {
  return text.replaceAll(referencePattern, '');
}

const referencePattern = /(\$?)\$\{env:([^}]*)(\}?)/g;

function parseInner(inner: string, match: string): TextPart {
  const { 1: name, 2: fallback } = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(inner) ?? [];
  return name === undefined ? { broken: match } : { name, fallback };
}
