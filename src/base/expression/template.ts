import { shorten } from '../text/phrases.ts';
import { ExpressionError, type TreePath } from './error.ts';

export type TemplatePart = string | { readonly code: string };

/** `$${` is a literal `${`. Throws ExpressionError with `path`. */
export function splitTemplate(text: string, path: TreePath): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let literal = '';
  for (let at = 0; at < text.length; ) {
    if (text.startsWith('$${', at)) {
      literal += '${';
      at += 3;
    } else if (text.startsWith('${', at)) {
      const end = endOfCode(text, at + 2, path);
      if (literal !== '') parts.push(literal);
      literal = '';
      parts.push({ code: text.slice(at + 2, end).trim() });
      at = end + 1;
    } else {
      literal += text[at];
      at += 1;
    }
  }
  return literal === '' ? parts : [...parts, literal];
}

const braceTokens =
  /('''|""")(?:\\.|(?!\1)[^\\])*\1|"(?:\\.|[^"\\\n\r])*"|'(?:\\.|[^'\\\n\r])*'|\/\/[^\n]*|[{}]/gs;

function endOfCode(text: string, start: number, path: TreePath): number {
  let depth = 1;
  for (const match of text.slice(start).matchAll(braceTokens)) {
    if (match[0] === '{') depth += 1;
    if (match[0] === '}') depth -= 1;
    if (depth === 0) return start + match.index;
  }
  const code = text.slice(start);
  throw new ExpressionError(
    code,
    `\`\${${shorten(code, 300)}\` has no closing brace: write \`}\` at the end of the expression`,
    { path },
  );
}
