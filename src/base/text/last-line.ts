/** The last line that is not blank, at most 500 characters of it; empty if there is none. */
export function lastLineOf(text: string): string {
  const line = text.trimEnd().split('\n').at(-1)?.trim() ?? '';
  // By code points: half of a surrogate pair is no character.
  return line.length > MESSAGE_CHARACTERS ? Array.from(line).slice(0, MESSAGE_CHARACTERS).join('') : line;
}

const MESSAGE_CHARACTERS = 500;
