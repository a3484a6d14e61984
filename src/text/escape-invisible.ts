/**
 * The text with everything spelled out that would not be seen as what it is: characters that a terminal obeys,
 * and marks that hide other text or turn its direction. Lines stay lines. For words of tools, models and datasets,
 * by which a person decides.
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

/** What scripts and emoji cannot be written without: joiners and variants, but not behind letters that have none. */
const wanted = [
  String.raw`(?<=[[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]--[\p{scx=Latn}\p{scx=Grek}\p{scx=Cyrl}\p{DI}]]\ufe0f?)[\u200c\u200d]`,
  String.raw`(?<=\p{Emoji})[\ufe0e\ufe0f]`,
  String.raw`(?<=\p{scx=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
  // Arabic and Syriac signs that embrace digits; and what lines are made of.
  String.raw`[\u0600-\u0605\u06dd\u070f\u08e2\n\t]`,
].join('|');
const unseen = new RegExp(String.raw`(?!${wanted})[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]`, 'gv');
