/**
 * Writes control and invisible characters as `\u` escapes: terminal controls, and marks that hide text or change its
 * direction. Keeps line breaks and tabs. Use it for text of tools, models and datasets on which a person decides.
 */
export function escapeInvisible(text: string): string {
  return text.replaceAll(invisibleCharacters, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const digits = code.toString(16).padStart(4, '0');
    return code > 0xffff ? `\\u{${digits}}` : `\\u${digits}`;
  });
}

/** Like `escapeInvisible`, with all white space collapsed to one line. */
export function escapeInvisibleLine(text: string): string {
  return escapeInvisible(text.trim().replaceAll(/\s+/g, ' '));
}

/**
 * Escapes characters that JSON strings may contain but that terminals interpret or hide, also marks of writing
 * direction. The result is the same JSON.
 */
export function escapeControls(json: string): string {
  return json.replaceAll(
    /[\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Joiners and variation selectors that scripts and emoji need, but not after letters that have none. */
const legitimateInvisible = [
  String.raw`(?<=[[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]--[\p{scx=Latn}\p{scx=Grek}\p{scx=Cyrl}\p{DI}]])[\u200c\u200d]`,
  String.raw`(?<=[\p{Extended_Pictographic}&&\p{Emoji}]\ufe0f)\u200d`,
  String.raw`(?<=\p{Emoji})[\ufe0e\ufe0f]`,
  String.raw`(?<=\p{scx=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
  // Arabic and Syriac signs that enclose digits; line breaks and tabs.
  String.raw`[\u0600-\u0605\u06dd\u070f\u08e2\n\t]`,
].join('|');
export const invisibleCharacters = new RegExp(
  String.raw`(?!${legitimateInvisible})[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]`,
  'gv',
);
