/** The text, or when it has more than `max` characters its first `kept`, without half a character, and an ellipsis. */
export function shorten(text: string, max = 100, kept = max): string {
  return text.length <= max ? text : `${text.slice(0, kept).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** `1 case`, `2 cases`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** The last line that is not blank, at most 500 characters of it; empty if there is none. */
export function lastLineOf(text: string): string {
  const line = text.trimEnd().split('\n').at(-1)?.trim() ?? '';
  // By code points: half of a surrogate pair is no character.
  return line.length > MESSAGE_CHARACTERS ? Array.from(line).slice(0, MESSAGE_CHARACTERS).join('') : line;
}

const MESSAGE_CHARACTERS = 500;

/** How many characters two texts have in common at their beginnings. */
export function sharedPrefixLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}
