/** Cuts a text of more than `max` characters to its first `kept` and an ellipsis. Never cuts a surrogate pair. */
export function shorten(text: string, max = 100, kept = max): string {
  return text.length <= max ? text : `${text.slice(0, kept).replace(/[\ud800-\udbff]$/, '')}…`;
}

export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `$1.25`; small amounts with two significant digits, as `$0.00031`. */
export function formatUsd(amount: number): string {
  if (amount === 0 || amount >= 0.1) return `$${amount.toFixed(2)}`;
  const digits = Math.min(9, 1 - Math.floor(Math.log10(amount)));
  return `$${amount.toFixed(digits)}`;
}

/** The last line that is not blank, cut to 500 characters; empty without one. */
export function lastLineOf(text: string): string {
  const line = text.trimEnd().split('\n').at(-1)?.trim() ?? '';
  return line.length > MESSAGE_CHARACTERS ? Array.from(line).slice(0, MESSAGE_CHARACTERS).join('') : line;
}

const MESSAGE_CHARACTERS = 500;

export function sharedPrefixLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}
