/** Bytes that a program may print in place of an answer. */
export interface Content {
  readonly title: string;
  readonly bytes: Uint8Array;
}

/** A text under a title. */
export const text = (title: string, value: string): Content => ({ title, bytes: Buffer.from(value) });
/** Parts, as texts or as bytes, one behind the other. */
export const raw = (title: string, ...parts: readonly (string | readonly number[])[]): Content => ({
  title,
  bytes: Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([...part]))),
  ),
});

/** Names that look like a key, and are another one. */
export function namesLike(key: string): string[] {
  const upper = key.charAt(0).toUpperCase() + key.slice(1);
  const cyrillic = key.replace(/[aeocp]/, (letter) => 'аеоср'.charAt('aeocp'.indexOf(letter)));
  const names = [
    upper,
    key.toUpperCase(),
    key.toLowerCase(),
    `${key} `,
    ` ${key}`,
    `${key}\u200b`,
    `${key}\0`,
    `"${key}"`,
    `${key}s`,
    cyrillic,
    key.replace('l', '\u0131'),
    `__${key}`,
  ];
  return [...new Set(names)].filter((name) => name !== key);
}
