/** The text, or when it has more than `max` characters its first `kept`, without half a character, and an ellipsis. */
export function shorten(text: string, max = 100, kept = max): string {
  return text.length <= max ? text : `${text.slice(0, kept).replace(/[\ud800-\udbff]$/, '')}…`;
}
