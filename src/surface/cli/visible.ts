/**
 * The text with everything spelled out that would not be seen as what it is: characters that a terminal obeys,
 * and marks that hide other text or turn its direction. Lines stay lines. For words of tools and models, by
 * which a person decides.
 */
export function visible(text: string): string {
  return text.replaceAll(unseen, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const digits = code.toString(16).padStart(4, '0');
    return code > 0xffff ? `\\u{${digits}}` : `\\u${digits}`;
  });
}

/** The same on one line. */
export function visibleLine(text: string): string {
  return visible(text.trim().replaceAll(/\s+/g, ' '));
}

/** Control and format characters and line separators, without new lines, tabs, and the joiners that scripts and emoji need. */
const unseen = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
